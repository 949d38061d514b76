using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Example.Typography;

/// <summary>Breaks text into lines of least raggedness (dynamic programming, squared slack).</summary>
public sealed class TextWrapper
{
    private readonly int _width;

    public TextWrapper(int width) =>
        _width = width > 0 ? width : throw new ArgumentOutOfRangeException(nameof(width));

    public IReadOnlyList<string> Wrap(string text)
    {
        var words = text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        var cost = new long[words.Length + 1];
        var breaks = new int[words.Length + 1];
        for (var end = 1; end <= words.Length; end++)
        {
            cost[end] = long.MaxValue;
            var length = -1;
            for (var start = end - 1; start >= 0; start--)
            {
                length += words[start].Length + 1;
                if (length > _width && start < end - 1) break;
                var slack = Math.Max(0, _width - length);
                var penalty = end == words.Length ? 0L : (long)slack * slack;
                if (cost[start] + penalty < cost[end])
                {
                    (cost[end], breaks[end]) = (cost[start] + penalty, start);
                }
            }
        }
        var lines = new Stack<string>();
        for (var end = words.Length; end > 0; end = breaks[end])
        {
            lines.Push(string.Join(' ', words[breaks[end]..end]));
        }
        return lines.ToList();
    }
}

internal static class Program
{
    private static void Main(string[] args)
    {
        var width = args.FirstOrDefault() is { } first && int.TryParse(first, out var given) ? given : 40;
        var text = "The lighthouse keeper counted the ships twice, once for the company and once for himself.";
        var page = new StringBuilder();
        foreach (var line in new TextWrapper(width).Wrap(text))
        {
            page.AppendLine($"| {line.PadRight(width)} |");
        }
        Console.Write(page);
    }
}
