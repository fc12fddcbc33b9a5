package example.parcelwright.statements

import example.parcelwright.ledger.Journal
import java.time.LocalDate
import java.time.temporal.ChronoUnit

/** The days that one statement is about; [until] is the first day of the next one. */
class StatementPeriod(private val from: LocalDate, private val until: LocalDate) {
    fun covers(day: LocalDate): Boolean = !day.isBefore(from) && day.isBefore(until)

    /** Objections are heard for six weeks after the period. */
    fun mayObject(day: LocalDate): Boolean = ChronoUnit.DAYS.between(until, day) <= 42

    fun title(journal: Journal): String = "$from to $until: ${journal.balance()}"
}
