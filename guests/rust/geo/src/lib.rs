//! Where an address is, by a table of networks that is part of the module: country is a scalar for SQL, lookup adds columns.
//! networks.csv has made-up places for the networks that are set aside for documents; put a table of your own there, or give
//! lines of the same form in the config `networks`. The longest network that holds an address wins.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use wstream::{Bind, Builder, Fail, Input, Output, Type};

/// A network as the numbers of its first and last address; those of IPv4 lie at ::ffff:0:0.
struct Network<'a> {
    first: u128,
    last: u128,
    name: &'a str,
    country: &'a str,
    place: &'a str,
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(v) => v.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v) => v.to_bits(),
    }
}

fn network(line: &str) -> Option<Network<'_>> {
    let mut parts = line.splitn(3, ',');
    let (name, country, place) = (parts.next()?, parts.next()?, parts.next()?);
    let (ip, length) = name.split_once('/')?;
    let (ip, length) = (ip.parse::<IpAddr>().ok()?, length.parse::<u32>().ok()?);
    let free = if ip.is_ipv4() { 32u32 } else { 128 }.checked_sub(length)?;
    let hosts = if free == 128 { u128::MAX } else { (1 << free) - 1 };
    Some(Network { first: number(ip) & !hosts, last: number(ip) | hosts, name, country, place })
}

/// The table in order of first address, wider networks before those within.
fn table(bind: &Bind) -> Result<Vec<Network<'_>>, Fail> {
    let more = bind.setting("networks").unwrap_or("");
    let lines = include_str!("networks.csv").lines().chain(more.lines()).filter(|l| !l.is_empty());
    let mut all = Vec::new();
    for line in lines {
        all.push(network(line).ok_or_else(|| Fail::config(&format!("networks: found {line:?}, expected address/length,country,place")))?);
    }
    all.sort_by_key(|n| (n.first, !n.last));
    Ok(all)
}

/// The smallest network that holds the address.
fn find<'t, 'a>(table: &'t [Network<'a>], ip: &str) -> Result<Option<&'t Network<'a>>, String> {
    let n = number(ip.parse().map_err(|_| format!("{ip:?} is no address"))?);
    let end = table.partition_point(|t| t.first <= n);
    Ok(table[..end].iter().rev().find(|t| t.last >= n))
}

fn country(input: &Input, out: &mut Output, bind: &Bind) -> Result<(), Fail> {
    let (ip, table) = (input.column(0), table(bind)?);
    out.scalar_rows(input, Builder::new(Type::STRING, input.rows), |row, out| {
        match if ip.is_null(row) { None } else { find(&table, ip.str(row).unwrap_or(""))? } {
            Some(n) => out.str(n.country),
            None => out.null(),
        }
        Ok(())
    })
}

fn lookup(input: &Input, out: &mut Output, bind: &Bind) -> Result<(), Fail> {
    let (ip, table) = (input.column(0), table(bind)?);
    let columns = [0; 4].map(|_| Builder::new(Type::STRING, input.rows));
    out.parse_rows(input, columns.into(), |row, out| {
        let found = if ip.is_null(row) { None } else { find(&table, ip.str(row).unwrap_or(""))? };
        out[0].from(ip, row);
        match found {
            Some(n) => out[1..].iter_mut().zip([n.country, n.place, n.name]).for_each(|(b, v)| b.str(v)),
            None => out[1..].iter_mut().for_each(|b| b.null()),
        }
        Ok(())
    })
}

wstream::module! {
    name: "geo", version: "1.0.0",
    functions: [
        { call: country, name: "country", kind: "scalar", doc: "the country of an address; config networks", input: "ip STRING", output: "country STRING" },
        { call: lookup, name: "lookup", kind: "map", doc: "country, place and network of an address; config networks", input: "ip STRING",
          output: "ip STRING, country STRING, place STRING, network STRING" },
    ],
}

#[cfg(test)]
mod tests {
    use super::*;
    use wstream::Trial;

    #[test]
    fn the_longest_network_wins() {
        let mut ip = Builder::new(Type::STRING, 0);
        ["192.0.2.1", "192.0.2.200", "2001:db8:1::5", "8.8.8.8", "nowhere", "172.31.255.255", "9.9.9.9"].iter().for_each(|v| ip.str(v));
        let a = Trial::new(vec![ip]).setting("networks", "9.0.0.0/8,US,Lab").call(lookup).unwrap();
        let r = a.open();
        let places: Vec<&str> = (0..r.rows).map(|i| if r.column(2).is_null(i) { "-" } else { r.column(2).str(i).unwrap() }).collect();
        assert_eq!(places, ["Utrecht", "Delft", "Oslo", "-", "private", "Lab"]);
        assert_eq!(r.refused()[0].2, "\"nowhere\" is no address");
    }

    #[test]
    fn a_wrong_table_is_refused() {
        let a = Trial::new(vec![Builder::new(Type::STRING, 0)]).setting("networks", "1.2.3.4/33,X,Y").call(country);
        assert!(a.err().unwrap().text.starts_with("networks: found \"1.2.3.4/33,X,Y\""));
    }
}
