package org.example.orchard;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Harvest records of an orchard, summed per variety. */
public final class Orchard {

    public enum Variety { APPLE, PEAR, QUINCE, MEDLAR }

    public record Harvest(LocalDate day, Variety variety, double kilograms, BigDecimal pricePerKilogram) {
        public Harvest {
            Objects.requireNonNull(day, "day");
            if (kilograms < 0) {
                throw new IllegalArgumentException("kilograms must not be negative: " + kilograms);
            }
        }

        BigDecimal revenue() {
            return pricePerKilogram.multiply(BigDecimal.valueOf(kilograms)).setScale(2, RoundingMode.HALF_EVEN);
        }
    }

    private final List<Harvest> harvests;

    public Orchard(List<Harvest> harvests) {
        this.harvests = List.copyOf(harvests);
    }

    public Map<Variety, BigDecimal> revenueByVariety() {
        return harvests.stream().collect(Collectors.groupingBy(
                Harvest::variety,
                TreeMap::new,
                Collectors.reducing(BigDecimal.ZERO, Harvest::revenue, BigDecimal::add)));
    }

    public Optional<Harvest> bestDay() {
        return harvests.stream().max(Comparator.comparing(Harvest::revenue).thenComparing(Harvest::day));
    }

    public static void main(String[] args) {
        var orchard = new Orchard(List.of(
                new Harvest(LocalDate.of(2026, 9, 14), Variety.APPLE, 812.5, new BigDecimal("1.35")),
                new Harvest(LocalDate.of(2026, 9, 21), Variety.PEAR, 240.0, new BigDecimal("1.90")),
                new Harvest(LocalDate.of(2026, 10, 3), Variety.QUINCE, 96.25, new BigDecimal("3.10"))));
        orchard.revenueByVariety().forEach((variety, sum) -> System.out.printf("%-8s %10s%n", variety, sum));
        orchard.bestDay().ifPresent(day -> System.out.println("best day: " + day));
    }
}
