package example.parcelwright.ledger;

import java.util.function.Consumer;

/** Credits the month's volume rebate. */
public final class RebateService {
    private static final int MIN_PARCELS = 1_000;

    private final Journal journal;
    private final Consumer<String> audit;

    public RebateService(Journal journal, Consumer<String> audit) {
        this.journal = journal;
        this.audit = audit;
    }

    /** Four percent of the turnover for large shippers; a second call with the same key changes nothing. */
    public long credit(String key, long turnoverCents, int parcels) {
        if (journal.contains(key)) {
            return journal.amount(key);
        }
        if (parcels < MIN_PARCELS) {
            return 0;
        }
        long rebate = turnoverCents * 4 / 100;
        journal.post(key, rebate);
        audit.accept("rebate " + key);
        return rebate;
    }
}
