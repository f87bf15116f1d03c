//! As much JSON as the protocol needs: one value out of a line, and one line out of a value.

use std::collections::BTreeMap;
use std::fmt;

const DEPTH_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

static NULL: Json = Json::Null;

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_string())
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Json {
        Json::Text(text.clone())
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Json {
        Json::Number(number as f64)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Json {
        Json::List(items.into_iter().map(Into::into).collect())
    }
}

impl Json {
    /// The member of that name; null where there is none.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members.get(name).unwrap_or(&NULL),
            _ => &NULL,
        }
    }

    /// The text, or an empty one.
    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }

    /// The items of a list, or none.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    /// The value that a line holds.
    pub fn parse(line: &str) -> Result<Json, String> {
        let mut reader = Reader { rest: line.trim(), depth: 0 };
        let value = reader.value()?;
        match reader.rest.is_empty() {
            true => Ok(value),
            false => Err(format!("{:?} follows the value", reader.rest)),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Number(value) => write!(out, "{value}"),
            Json::Text(text) => write_text(out, text),
            Json::List(items) => {
                write!(out, "[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if at > 0 { "," } else { "" })?;
                }
                write!(out, "]")
            }
            Json::Object(members) => {
                write!(out, "{{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    write!(out, "{}", if at > 0 { "," } else { "" })?;
                    write_text(out, name)?;
                    write!(out, ":{value}")?;
                }
                write!(out, "}}")
            }
        }
    }
}

fn write_text(out: &mut fmt::Formatter, text: &str) -> fmt::Result {
    write!(out, "\"")?;
    for one in text.chars() {
        match one {
            '"' => write!(out, "\\\"")?,
            '\\' => write!(out, "\\\\")?,
            control if control < ' ' => write!(out, "\\u{:04x}", control as u32)?,
            other => write!(out, "{other}")?,
        }
    }
    write!(out, "\"")
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Json, String> {
        self.space();
        let value = match self.rest.chars().next() {
            Some('{') => self.nested(Self::object)?,
            Some('[') => self.nested(Self::list)?,
            Some('"') => Json::Text(self.string()?),
            Some('t') => self.word("true", Json::Bool(true))?,
            Some('f') => self.word("false", Json::Bool(false))?,
            Some('n') => self.word("null", Json::Null)?,
            _ => self.number()?,
        };
        self.space();
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, String>) -> Result<Json, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX} levels"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut members = BTreeMap::new();
        self.eat('{')?;
        self.space();
        while !self.rest.starts_with('}') {
            self.space();
            let name = self.string()?;
            self.space();
            self.eat(':')?;
            members.insert(name, self.value()?);
            if !self.rest.starts_with('}') {
                self.eat(',')?;
            }
        }
        self.eat('}')?;
        Ok(Json::Object(members))
    }

    fn list(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        self.eat('[')?;
        self.space();
        while !self.rest.starts_with(']') {
            items.push(self.value()?);
            if !self.rest.starts_with(']') {
                self.eat(',')?;
            }
        }
        self.eat(']')?;
        Ok(Json::List(items))
    }

    fn string(&mut self) -> Result<String, String> {
        self.eat('"')?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                other => text.push(other),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        Ok(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.unicode(),
            other => other,
        })
    }

    fn unicode(&mut self) -> Result<char, String> {
        let mut code = self.hex()?;
        if (0xd800..0xdc00).contains(&code) {
            self.eat('\\')?;
            self.eat('u')?;
            let low = self.hex()?;
            code = 0x10000 + ((code - 0xd800) << 10) + low.wrapping_sub(0xdc00);
        }
        char::from_u32(code).ok_or_else(|| format!("there is no character {code:x}"))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits: String = (0..4).map(|_| self.next()).collect::<Result<_, _>>()?;
        u32::from_str_radix(&digits, 16).map_err(|_| format!("{digits:?} is no number"))
    }

    fn number(&mut self) -> Result<Json, String> {
        let end = self.rest.find(|one: char| !"+-.eE0123456789".contains(one));
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        digits.parse().map(Json::Number).map_err(|_| format!("{digits:?} is no number"))
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        self.rest = self.rest.strip_prefix(word).ok_or_else(|| format!("{:?} is no value", self.rest))?;
        Ok(value)
    }

    fn next(&mut self) -> Result<char, String> {
        let mut rest = self.rest.chars();
        let next = rest.next().ok_or("it ends too early")?;
        self.rest = rest.as_str();
        Ok(next)
    }

    fn eat(&mut self, wanted: char) -> Result<(), String> {
        match self.next()? {
            found if found == wanted => Ok(()),
            found => Err(format!("{found:?} stands where {wanted:?} belongs")),
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }
}
