package main

import (
	"strconv"
	"strings"
)

// account is a question to the service's own database, and the answer that must come.
type account struct {
	title, question string
	want            [][]string
}

// accounts closes the story with what the service itself says: not what was answered, what happened.
func (t *teller) accounts() error {
	t.scene("What the service's own database says")
	for _, a := range []account{
		{
			"Every customer, as it stands now:",
			`SELECT id, version, line1, city, country FROM customers WHERE tenant = 'acme' ORDER BY id`,
			[][]string{
				{"cus_2Zt6", "9", "8 Norra Vägen", "Uppsala", "SE"},
				{"cus_4Hk2", "18", "3a Mill Court", "Bremen", "DE"},
				{"cus_5Pd1", "32", "7 Seestrasse", "Zug", "CH"},
				{"cus_7Rw8", "4", "12 Quay Street", "Galway", "IE"},
				{"cus_9Qm4", "18", "4 Harbour Row", "Lübeck", "DE"},
			},
		},
		{
			"Every change, in the order in which it was made:",
			`SELECT number, changed_at, customer_id, from_version || ' → ' || to_version AS version, changed_by FROM change_feed ORDER BY number`,
			[][]string{
				{"1", "2026-03-02T09:02:00Z", "cus_9Qm4", "17 → 18", "support-desk"},
				{"2", "2026-03-02T09:02:00Z", "cus_4Hk2", "17 → 18", "back office"},
				{"3", "2026-03-02T09:17:00Z", "cus_5Pd1", "31 → 32", "support-desk"},
			},
		},
		{
			"Every write request that arrived, and what the service answered:",
			`SELECT number, customer_id, answer FROM requests ORDER BY number`,
			[][]string{{"1", "cus_9Qm4", "changed"}, {"2", "cus_4Hk2", "changed"}, {"3", "cus_5Pd1", "changed"}},
		},
		{
			"Keys with more than one request or more than one effect:",
			`SELECT count(*) AS keys FROM (SELECT key FROM requests GROUP BY key HAVING count(*) > 1
       UNION SELECT key FROM change_feed GROUP BY key HAVING count(*) > 1)`,
			[][]string{{"0"}},
		},
	} {
		if err := t.account(a); err != nil {
			return err
		}
	}
	t.say("The last change landed although its answer never arrived: “unknown” was the truth, and “failed, try again” would have been a lie.")
	t.discreet()
	return nil
}

func (t *teller) account(a account) error {
	columns, rows, err := t.h.crm.Query(t.ctx, a.question)
	if err != nil {
		return err
	}
	t.say("%s", a.title)
	t.say("  sql> %s", a.question)
	var out table
	for _, c := range columns {
		out.columns = append(out.columns, column{title: c})
	}
	for _, row := range rows {
		out.add(append([]string(nil), row...)...)
	}
	out.write(t.w, "       ")
	t.expect(same(a.want, rows), "as it must be")
	t.gap()
	return nil
}

func same(want, got [][]string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if strings.Join(want[i], "\x00") != strings.Join(got[i], "\x00") {
			return false
		}
	}
	return true
}

// discreet looks for what the audit trail must not hold.
func (t *teller) discreet() {
	n, text := t.h.trail.text()
	leaked := false
	for _, private := range []string{"Harbour", "Lübeck", "Kiel", "Ines Vogt", "Mill Court", "Seestrasse", "depot"} {
		leaked = leaked || strings.Contains(text, private)
	}
	t.expect(n > 0 && !leaked, "the audit trail names tools, people, codes and ids, and no address, name or reason")
}

func (t *teller) number(question string) int {
	_, rows, err := t.h.crm.Query(t.ctx, question)
	if !t.must("the database", err) || len(rows) != 1 {
		return -1
	}
	n, err := strconv.Atoi(rows[0][0])
	t.must("the database", err)
	return n
}

// version, changes (of cus_9Qm4) and requests ask the service's own database about one customer.
func (t *teller) version(customer string) int {
	return t.number(`SELECT version FROM customers WHERE tenant = 'acme' AND id = '` + customer + `'`)
}

func (t *teller) changes() int {
	return t.number(`SELECT count(*) FROM change_feed WHERE customer_id = 'cus_9Qm4'`)
}

func (t *teller) requests(customer string) int {
	return t.number(`SELECT count(*) FROM requests WHERE customer_id = '` + customer + `'`)
}
