-- Lending library: members, items, loans; who is late, and what is popular.
PRAGMA foreign_keys = ON;

CREATE TABLE member (
    member_id   INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    joined_on   DATE NOT NULL DEFAULT CURRENT_DATE,
    email       TEXT UNIQUE CHECK (email LIKE '%_@_%._%')
);

CREATE TABLE item (
    item_id     INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('book', 'telescope', 'sewing machine', 'fishing rod')),
    title       TEXT NOT NULL,
    price_cents INTEGER CHECK (price_cents >= 0)
);

CREATE TABLE loan (
    loan_id     INTEGER PRIMARY KEY,
    item_id     INTEGER NOT NULL REFERENCES item (item_id) ON DELETE RESTRICT,
    member_id   INTEGER NOT NULL REFERENCES member (member_id) ON DELETE CASCADE,
    taken_on    DATE NOT NULL,
    due_on      DATE NOT NULL,
    returned_on DATE,
    CHECK (due_on > taken_on)
);

CREATE UNIQUE INDEX one_open_loan_per_item ON loan (item_id) WHERE returned_on IS NULL;

INSERT INTO member (member_id, name, email) VALUES
    (1, 'Tomás Lindqvist', 'tomas@example.org'),
    (2, 'Miriam Okonkwo', 'miriam@example.org');

-- Overdue loans with the fee so far: 20 cents a day, never more than the price.
WITH overdue AS (
    SELECT loan.*, CAST(julianday('now') - julianday(due_on) AS INTEGER) AS days_late
    FROM loan
    WHERE returned_on IS NULL AND due_on < DATE('now')
)
SELECT m.name,
       i.title,
       o.days_late,
       MIN(o.days_late * 20, COALESCE(i.price_cents, 1000)) / 100.0 AS fee
FROM overdue AS o
JOIN member AS m USING (member_id)
JOIN item AS i USING (item_id)
ORDER BY fee DESC, m.name;

-- The three most borrowed titles of each kind.
SELECT kind, title, loans
FROM (
    SELECT i.kind, i.title, COUNT(*) AS loans,
           RANK() OVER (PARTITION BY i.kind ORDER BY COUNT(*) DESC) AS place
    FROM loan AS l JOIN item AS i ON i.item_id = l.item_id
    GROUP BY i.item_id
) AS ranked
WHERE place <= 3;
