// Runs named tasks by priority and deadline; ties go to whoever came first.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

namespace harbour {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Task {
    std::string name;
    int priority = 0;
    Clock::time_point deadline;
    std::uint64_t order = 0;
    std::function<void()> work;
};

struct Later {
    bool operator()(const Task& a, const Task& b) const noexcept {
        if (a.priority != b.priority) return a.priority < b.priority;
        if (a.deadline != b.deadline) return a.deadline > b.deadline;
        return a.order > b.order;
    }
};

class Scheduler {
public:
    template <typename Work>
    void add(std::string_view name, int priority, Clock::duration within, Work&& work) {
        queue_.push(Task{std::string{name}, priority, Clock::now() + within, next_++, std::forward<Work>(work)});
    }

    [[nodiscard]] std::optional<Task> pop() {
        if (queue_.empty()) return std::nullopt;
        Task task = queue_.top();
        queue_.pop();
        return task;
    }

    std::size_t run() {
        std::size_t late = 0;
        while (auto task = pop()) {
            task->work();
            late += Clock::now() > task->deadline ? 1 : 0;
        }
        return late;
    }

private:
    std::priority_queue<Task, std::vector<Task>, Later> queue_;
    std::uint64_t next_ = 0;
};

}  // namespace harbour

int main() {
    harbour::Scheduler scheduler;
    std::vector<std::string> log;
    using namespace std::chrono_literals;
    scheduler.add("refuel", 1, 50ms, [&] { log.emplace_back("refuel"); });
    scheduler.add("moor", 9, 5ms, [&] { log.emplace_back("moor"); });
    scheduler.add("unload", 5, 20ms, [&] { log.emplace_back("unload"); });
    const auto late = scheduler.run();
    std::for_each(log.begin(), log.end(), [](const auto& entry) { std::cout << "- " << entry << '\n'; });
    return late == 0 ? 0 : 1;
}
