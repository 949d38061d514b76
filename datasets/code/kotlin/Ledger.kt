package org.example.ledger

import java.time.LocalDate
import java.util.Locale

@JvmInline
value class Cents(val value: Long) : Comparable<Cents> {
    operator fun plus(other: Cents) = Cents(value + other.value)
    operator fun unaryMinus() = Cents(-value)
    override fun compareTo(other: Cents) = value.compareTo(other.value)
    override fun toString() = String.format(Locale.ROOT, "%,d.%02d", value / 100, kotlin.math.abs(value % 100))
}

sealed interface Entry {
    val date: LocalDate
    val amount: Cents

    data class Deposit(override val date: LocalDate, override val amount: Cents, val from: String) : Entry
    data class Payment(override val date: LocalDate, override val amount: Cents, val to: String) : Entry
    data class Fee(override val date: LocalDate, override val amount: Cents) : Entry
}

class InsufficientFunds(needed: Cents, available: Cents) :
    IllegalStateException("needs $needed, has $available")

class Ledger(private val overdraft: Cents = Cents(0)) {
    private val entries = mutableListOf<Entry>()

    val balance: Cents
        get() = entries.fold(Cents(0)) { sum, entry ->
            sum + when (entry) {
                is Entry.Deposit -> entry.amount
                is Entry.Payment, is Entry.Fee -> -entry.amount
            }
        }

    fun record(entry: Entry) = apply {
        if (entry !is Entry.Deposit && balance + overdraft < entry.amount) {
            throw InsufficientFunds(entry.amount, balance + overdraft)
        }
        entries += entry
    }

    fun byMonth(): Map<String, List<Entry>> =
        entries.sortedBy { it.date }.groupBy { "%04d-%02d".format(it.date.year, it.date.monthValue) }
}

fun main() {
    val ledger = Ledger(overdraft = Cents(50_00))
        .record(Entry.Deposit(LocalDate.of(2027, 1, 4), Cents(1_200_00), from = "harvest"))
        .record(Entry.Payment(LocalDate.of(2027, 1, 9), Cents(349_95), to = "sawmill"))
    ledger.byMonth().forEach { (month, entries) -> println("$month: ${entries.size} entries, balance ${ledger.balance}") }
}
