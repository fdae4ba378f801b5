@testable import Stores

/// Facts: the tables that the sample database Pagila and Gitea's models have.
extension RealSchema {
    static let pagila = RealSchema(
        name: "Pagila",
        kinds: [.postgresql, .mysql],
        sql: """
            CREATE TABLE city(city_id INTEGER PRIMARY KEY, city TEXT NOT NULL);
            CREATE TABLE address(address_id INTEGER PRIMARY KEY, address TEXT NOT NULL,
                city_id INTEGER NOT NULL REFERENCES city(city_id), phone TEXT NOT NULL);
            CREATE TABLE staff(staff_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT,
                address_id INTEGER NOT NULL REFERENCES address(address_id));
            CREATE TABLE store(store_id INTEGER PRIMARY KEY,
                manager_staff_id INTEGER NOT NULL REFERENCES staff(staff_id),
                address_id INTEGER NOT NULL REFERENCES address(address_id));
            CREATE TABLE film(film_id INTEGER PRIMARY KEY, title TEXT NOT NULL);
            CREATE TABLE inventory(inventory_id INTEGER PRIMARY KEY,
                film_id INTEGER NOT NULL REFERENCES film(film_id),
                store_id INTEGER NOT NULL REFERENCES store(store_id));
            CREATE TABLE customer(customer_id INTEGER PRIMARY KEY,
                store_id INTEGER NOT NULL REFERENCES store(store_id), first_name TEXT NOT NULL,
                last_name TEXT NOT NULL, email TEXT,
                address_id INTEGER NOT NULL REFERENCES address(address_id), create_date DATE);
            CREATE TABLE rental(rental_id INTEGER PRIMARY KEY, rental_date TIMESTAMP NOT NULL,
                inventory_id INTEGER NOT NULL REFERENCES inventory(inventory_id),
                customer_id INTEGER NOT NULL REFERENCES customer(customer_id),
                staff_id INTEGER NOT NULL REFERENCES staff(staff_id));
            CREATE TABLE payment(payment_id INTEGER PRIMARY KEY,
                customer_id INTEGER NOT NULL REFERENCES customer(customer_id),
                staff_id INTEGER NOT NULL REFERENCES staff(staff_id),
                rental_id INTEGER NOT NULL REFERENCES rental(rental_id), amount NUMERIC(5, 2));
            INSERT INTO city VALUES (1, 'Lethbridge');
            INSERT INTO address VALUES (1, '47 MySakila Drive', 1, '555');
            INSERT INTO staff VALUES (1, 'Mike', 'Hillyer', 1);
            INSERT INTO store VALUES (1, 1, 1);
            INSERT INTO film VALUES (1, 'ACADEMY DINOSAUR');
            INSERT INTO inventory VALUES (1, 1, 1);
            """,
        userTable: "customer.customer_id",
        fills: [
            Fill("address") { ["\(id(12, $0)), 'Street', 1, '\(id(13, $0))'"] },
            Fill("customer") {
                [
                    "\(id(11, $0)), 1, 'ANN', 'SMITH', 'm\(id(14, $0))@sakila.org', \(id(12, $0)),"
                        + " '2025-01-01'"
                ]
            },
            Fill("rental") { n in
                (15...16).map { "\(id($0, n)), '2025-02-01 00:00:00', 1, \(id(11, n)), 1" }
            },
            Fill("payment") { n in
                (0...1).map { "\(id(17 + $0, n)), \(id(11, n)), 1, \(id(15 + $0, n)), 2.99" }
            },
        ],
        user: { "\(id(11, $0))" }
    )

    /// No table refers to another by a key.
    static let gitea = RealSchema(
        name: "Gitea",
        kinds: [.sqlite],
        sql: """
            CREATE TABLE user(id INTEGER PRIMARY KEY, lower_name TEXT UNIQUE, name TEXT UNIQUE,
                email TEXT, created_unix INTEGER);
            CREATE TABLE email_address(id INTEGER PRIMARY KEY, uid INTEGER, email TEXT UNIQUE);
            CREATE TABLE repository(id INTEGER PRIMARY KEY, owner_id INTEGER, owner_name TEXT,
                name TEXT, created_unix INTEGER);
            CREATE TABLE issue(id INTEGER PRIMARY KEY, repo_id INTEGER, poster_id INTEGER,
                name TEXT, created_unix INTEGER);
            CREATE TABLE comment(id INTEGER PRIMARY KEY, type INTEGER, poster_id INTEGER,
                issue_id INTEGER, assignee_id INTEGER, content TEXT, created_unix INTEGER);
            CREATE TABLE issue_user(id INTEGER PRIMARY KEY, uid INTEGER, issue_id INTEGER,
                is_read INTEGER);
            CREATE TABLE star(id INTEGER PRIMARY KEY, uid INTEGER, repo_id INTEGER);
            CREATE TABLE watch(id INTEGER PRIMARY KEY, user_id INTEGER, repo_id INTEGER);
            CREATE TABLE follow(id INTEGER PRIMARY KEY, user_id INTEGER, follow_id INTEGER);
            CREATE TABLE access(id INTEGER PRIMARY KEY, user_id INTEGER, repo_id INTEGER,
                mode INTEGER);
            CREATE TABLE public_key(id INTEGER PRIMARY KEY, owner_id INTEGER, name TEXT,
                content TEXT);
            CREATE TABLE access_token(id INTEGER PRIMARY KEY, uid INTEGER, token_hash TEXT);
            CREATE TABLE org_user(id INTEGER PRIMARY KEY, uid INTEGER, org_id INTEGER);
            CREATE TABLE action(id INTEGER PRIMARY KEY, user_id INTEGER, op_type INTEGER,
                act_user_id INTEGER, repo_id INTEGER, content TEXT);
            CREATE TABLE version(id INTEGER PRIMARY KEY, version INTEGER);
            INSERT INTO version VALUES (1, 299);
            INSERT INTO repository VALUES (7, 0, 'org', 'handbook', 1735689600);
            """,
        userTable: "user.id",
        fills: [
            Fill("user") {
                let name = "dev\(id(12, $0))"
                return ["\(id(11, $0)), '\(name)', '\(name)', '\(name)@example.org', 1735689600"]
            },
            Fill("email_address") {
                ["\(id(13, $0)), \(id(11, $0)), 'dev\(id(12, $0))@example.org'"]
            },
            Fill("repository") {
                ["\(id(14, $0)), \(id(11, $0)), 'dev\(id(12, $0))', 'dotfiles', 1735689600"]
            },
            Fill("issue") {
                [
                    "\(id(15, $0)), \(id(14, $0)), \(id(11, $0)), 'It fails', 1735689600",
                    "\(id(16, $0)), 7, \(id(11, $0)), 'It fails, too', 1735689600",
                ]
            },
            Fill("comment") {
                [
                    "\(id(17, $0)), 0, \(id(11, $0)), \(id(15, $0)), NULL, 'Mine', 1735689600",
                    "\(id(18, $0)), 0, \(id(11, next($0))), \(id(15, $0)), NULL, 'Other',"
                        + " 1735689600",
                ]
            },
            Fill("issue_user") {
                [
                    "\(id(19, $0)), \(id(11, $0)), \(id(15, $0)), 1",
                    "\(id(20, $0)), \(id(11, next($0))), \(id(16, $0)), 1",
                ]
            },
            Fill("star") { ["\(id(21, $0)), \(id(11, $0)), 7"] },
            Fill("watch") { ["\(id(22, $0)), \(id(11, next($0))), \(id(14, $0))"] },
            Fill("follow") { ["\(id(23, $0)), \(id(11, $0)), \(id(11, next($0)))"] },
            Fill("access") { ["\(id(24, $0)), \(id(11, next($0))), \(id(14, $0)), 1"] },
            Fill("public_key") { ["\(id(25, $0)), \(id(11, $0)), 'key', 'ssh\(id(26, $0))'"] },
            Fill("access_token") { ["\(id(27, $0)), \(id(11, $0)), 'h\(id(28, $0))'"] },
            Fill("org_user") { ["\(id(29, $0)), \(id(11, $0)), 3"] },
            Fill("action") {
                ["\(id(30, next($0))), \(id(11, next($0))), 1, \(id(11, $0)), 7, ''"]
            },
        ],
        user: { "\(id(11, $0))" },
        edits: belowGoes
    )
}
