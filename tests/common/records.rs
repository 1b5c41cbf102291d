//! Deterministic records as programs write them: lines of logs, and objects of a JSON API.

use std::fmt::Write;

use super::pages::Random;

/// A generator of one line or object.
type Generator = fn(&mut Random, &mut String);

/// The kinds of records.
pub const KINDS: [(&str, Generator); 3] =
    [("access log", access), ("syslog", syslog), ("JSON", order)];

const FIRST_NAMES: &[&str] = &[
    "Alice", "Bruno", "Chen", "Dalia", "Emeka", "Fatima", "Goran", "Hana", "Ivan", "Julia", "Kofi",
    "Lena", "Mateo", "Nadia", "Omar", "Priya",
];
const LAST_NAMES: &[&str] = &[
    "Okafor", "Silva", "Novak", "Haddad", "Tanaka", "Ivanova", "Larsen", "Moreau", "Schmidt",
    "Garcia", "Kowalski", "Nguyen", "Rossi", "Smith", "Yilmaz", "Zhang",
];
const HOSTS: &[&str] = &["api", "cdn", "www", "img", "shop", "auth"];
const PATHS: &[&str] = &[
    "/api/v2/users/",
    "/api/v2/orders/",
    "/static/js/app.",
    "/images/products/",
    "/search?q=",
    "/cart/items/",
    "/login?next=/account/",
];
const AGENTS: &[&str] = &[
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "curl/8.5.0",
];
const THINGS: &[&str] = &[
    "cotton shirt",
    "garden chair",
    "wooden lamp",
    "coffee maker",
    "running shoes",
    "leather wallet",
    "travel backpack",
    "wireless mouse",
    "ceramic mug",
];

fn pick(random: &mut Random, of: &[&'static str]) -> &'static str {
    of[random.below(of.len())]
}

/// Appends formatted text; writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($arguments:tt)*) => {{ let _ = write!($out, $($arguments)*); }};
}

/// A line of the access log of a web server.
fn access(random: &mut Random, out: &mut String) {
    let mut number = |bound| random.below(bound);
    put!(
        out,
        "{}.{}.{}.{}",
        1 + number(223),
        number(256),
        number(256),
        number(256)
    );
    let (day, hour, minute, second) = (1 + number(30), number(24), number(60), number(60));
    put!(
        out,
        " - - [{day:02}/Jun/2026:{hour:02}:{minute:02}:{second:02} +0000]"
    );
    let (id, length) = (number(1 << 20), number(90_000));
    let (method, path) = (
        pick(random, &["GET", "GET", "POST", "PUT"]),
        pick(random, PATHS),
    );
    let status = pick(random, &["200", "200", "200", "301", "304", "404", "500"]);
    put!(out, " \"{method} {path}{id} HTTP/1.1\" {status} {length}");
    let (host, path, agent) = (
        pick(random, HOSTS),
        pick(random, PATHS),
        pick(random, AGENTS),
    );
    put!(out, " \"https://{host}.example.com{path}\" \"{agent}\"\n");
}

/// A line of the system log.
fn syslog(random: &mut Random, out: &mut String) {
    let (host, user) = (
        pick(random, HOSTS),
        pick(random, FIRST_NAMES).to_lowercase(),
    );
    let (key, mut number) = (random.next(), |bound| random.below(bound));
    let (day, hour, minute, second) = (1 + number(30), number(24), number(60), number(60));
    put!(
        out,
        "Jun {day:2} {hour:02}:{minute:02}:{second:02} {host}-{:02} ",
        number(20)
    );
    let (id, port) = (300 + number(30_000), 32_768 + number(28_000));
    let address = format!("10.{}.{}.{}", number(8), number(256), number(256));
    match number(6) {
        0 => put!(
            out,
            "sshd[{id}]: Accepted publickey for {user} from {address} port {port} ssh2: ED25519 SHA256:{key:016x}"
        ),
        1 => put!(
            out,
            "sshd[{id}]: Failed password for invalid user {user} from {address} port {port} ssh2"
        ),
        2 => put!(
            out,
            "systemd[1]: Started session-{id}.scope - Session {id} of User {user}."
        ),
        3 => put!(
            out,
            "CRON[{id}]: ({user}) CMD (cd / && run-parts --report /etc/cron.hourly)"
        ),
        4 => put!(
            out,
            "dhclient[{id}]: DHCPACK of {address} from 10.0.0.1 (xid=0x{:08x})",
            key as u32
        ),
        _ => put!(
            out,
            "postfix/smtpd[{id}]: connect from mail-{port}.example.org[{address}]"
        ),
    }
    out.push('\n');
}

/// An order of a JSON API.
fn order(random: &mut Random, out: &mut String) {
    let (id, token) = (random.next() >> 34, random.next());
    let (first, last) = (pick(random, FIRST_NAMES), pick(random, LAST_NAMES));
    let start = random.next() as u32;
    let mut number = |bound| random.below(bound);
    put!(
        out,
        "{{\"id\":{id},\"uuid\":\"{:08x}-{:04x}-4{:03x}-{:016x}\",",
        start,
        number(1 << 16),
        number(1 << 12),
        token
    );
    for name in ["created_at", "updated_at"] {
        let (month, day, hour) = (1 + number(12), 1 + number(28), number(24));
        let (minute, second, milli) = (number(60), number(60), number(1000));
        put!(
            out,
            "\"{name}\":\"2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z\","
        );
    }
    let email = format!("{first}.{last}@example.com").to_lowercase();
    put!(
        out,
        "\"user\":{{\"first_name\":\"{first}\",\"last_name\":\"{last}\",\"email\":\"{email}\",\"avatar_url\":\"https://"
    );
    let (host, active) = (pick(random, HOSTS), pick(random, &["true", "false"]));
    put!(
        out,
        "{host}.example.com/avatars/{:x}.png\",\"is_active\":{active}}},",
        token >> 24
    );
    let status = pick(random, &["pending", "paid", "shipped", "cancelled"]);
    put!(
        out,
        "\"status\":\"{status}\",\"total_cents\":{},\"items\":[",
        random.below(100_000)
    );
    for item in 0..random.below(4) + random.below(2) * random.below(16) {
        let comma = if item == 0 { "" } else { "," };
        let (thing, kind) = (
            pick(random, THINGS),
            pick(random, &["HOM", "CLO", "ELE", "GAR"]),
        );
        let (sku, n, cents) = (
            random.below(100_000),
            1 + random.below(5),
            99 + random.below(20_000),
        );
        put!(
            out,
            "{comma}{{\"sku\":\"{kind}-{sku:05}\",\"description\":\"{thing}\",\"quantity\":{n},\"unit_price_cents\":{cents}}}"
        );
    }
    put!(
        out,
        "],\"links\":{{\"self\":\"https://api.example.com/v2/orders/{id}\",\"invoice\":\"https://api.example.com/v2/orders/{id}/invoice\"}}}}\n"
    );
}

/// Returns records of a kind, of about 256 bytes to 4 KiB: one object, or as many lines as give that length.
pub fn records(kind: usize, n: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut record = |_| {
        let at_least = 256 + random.below(2) * random.below(3500);
        let mut out = String::new();
        KINDS[kind].1(&mut random, &mut out);
        while out.len() < at_least && KINDS[kind].0 != "JSON" {
            KINDS[kind].1(&mut random, &mut out);
        }
        out.into_bytes()
    };
    (0..n).map(&mut record).collect()
}
