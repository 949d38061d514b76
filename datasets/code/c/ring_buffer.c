/* A single-producer, single-consumer ring buffer of bytes. */
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_SIZE 1024u /* a power of two */
#define MASK (RING_SIZE - 1u)

typedef struct {
    unsigned char data[RING_SIZE];
    _Atomic size_t head; /* next byte to write */
    _Atomic size_t tail; /* next byte to read */
} ring_t;

static size_t ring_used(const ring_t *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire) -
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

bool ring_put(ring_t *ring, const void *bytes, size_t n)
{
    if (n > RING_SIZE - ring_used(ring))
        return false;
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    size_t first = RING_SIZE - (head & MASK);
    if (first > n)
        first = n;
    memcpy(ring->data + (head & MASK), bytes, first);
    memcpy(ring->data, (const unsigned char *)bytes + first, n - first);
    atomic_store_explicit(&ring->head, head + n, memory_order_release);
    return true;
}

size_t ring_take(ring_t *ring, void *out, size_t max)
{
    size_t n = ring_used(ring);
    if (n > max)
        n = max;
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)out)[i] = ring->data[(tail + i) & MASK];
    atomic_store_explicit(&ring->tail, tail + n, memory_order_release);
    return n;
}

int main(void)
{
    ring_t *ring = calloc(1, sizeof *ring);
    char line[64] = {0};
    if (ring == NULL) {
        perror("calloc");
        return EXIT_FAILURE;
    }
    assert(ring_put(ring, "anchor\0weigh", 12));
    printf("%zu bytes: \"%s\"\n", ring_take(ring, line, sizeof line), line);
    free(ring);
    return EXIT_SUCCESS;
}
