use std::collections::{HashMap, HashSet, VecDeque};
use std::env;
use std::fs;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn neighbours<'a>(word: &str, words: &HashSet<&'a str>) -> Vec<&'a str> {
    let mut letters: Vec<u8> = word.bytes().collect();
    let mut found = Vec::new();
    for index in 0..letters.len() {
        let original = letters[index];
        for letter in b'a'..=b'z' {
            if letter != original {
                letters[index] = letter;
                if let Some(&hit) = std::str::from_utf8(&letters).ok().and_then(|w| words.get(w)) {
                    found.push(hit);
                }
            }
        }
        letters[index] = original;
    }
    found
}

fn ladder<'a>(from: &'a str, to: &str, words: &HashSet<&'a str>) -> Option<Vec<&'a str>> {
    let mut came_from: HashMap<&str, &'a str> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(word) = queue.pop_front() {
        if word == to {
            let mut path = vec![word];
            while let Some(&previous) = came_from.get(path.last()?) {
                path.push(previous);
            }
            path.reverse();
            return Some(path);
        }
        for next in neighbours(word, words) {
            if next != from && !came_from.contains_key(next) {
                came_from.insert(next, word);
                queue.push_back(next);
            }
        }
    }
    None
}

fn run() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [dictionary, from, to] = args.as_slice() else {
        return Err("usage: word_ladder DICTIONARY FROM TO".into());
    };
    let text = fs::read_to_string(dictionary)?;
    let words: HashSet<&str> = text.lines().filter(|w| w.len() == from.len()).collect();
    match ladder(from, to, &words) {
        Some(path) => println!("{}", path.join(" → ")),
        None => println!("no way from {from:?} to {to:?}"),
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
