//! A tiny agent without input or output of its own: events go in, and what it wants done comes out.
//!
//! It asks a model, runs the calls of a turn one after the other, parks those that a person must decide,
//! and goes on with what was decided.

use crate::json::{object, Json};
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq)]
pub enum Rule {
    Runs,
    Waits,
    Asks,
}

#[derive(Clone)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub args: Json,
}

/// What the agent wants done; it takes nothing but a cancel before it is told what came of it.
pub enum Wish {
    Think,
    Ask(Call),
    Act(Call),
    Rest(&'static str, Vec<String>),
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    New,
    Waits,
    Approved,
    Runs,
    Over,
}

struct Work {
    call: Call,
    status: Status,
}

pub struct Agent {
    rules: HashMap<String, Rule>,
    pub thread: Vec<Json>,
    round: Vec<Work>,
    is_over: bool,
}

impl Agent {
    pub fn new(rules: HashMap<String, Rule>) -> Agent {
        Agent { rules, thread: Vec::new(), round: Vec::new(), is_over: true }
    }

    /// Somebody says something: a run begins.
    pub fn say(&mut self, text: &str) -> Wish {
        self.round.clear();
        self.is_over = false;
        self.thread.push(object([("role", "user".into()), ("text", text.into())]));
        Wish::Think
    }

    /// The model answered.
    pub fn turn(&mut self, text: &str, calls: Vec<Call>) -> Wish {
        let mut round: Vec<Work> = Vec::new();
        for call in calls {
            if round.iter().all(|work| work.call.id != call.id) {
                round.push(Work { call, status: Status::New });
            }
        }
        let asked = round.iter().map(|work| shown(&work.call)).collect();
        self.thread.push(object([
            ("role", "assistant".into()),
            ("text", text.into()),
            ("tool_calls", asked),
        ]));
        self.round = round;
        self.go_on()
    }

    /// The policy answered.
    pub fn judged(&mut self, id: &str, verdict: &str, content: &str) -> Wish {
        match verdict {
            "allow" => return self.enter(id),
            "suspend" => self.set(id, Status::Waits),
            "set_result" => self.close(id, "ok", content),
            _ => self.close(id, "error", "it was blocked"),
        }
        self.go_on()
    }

    /// A tool answered.
    pub fn answered(&mut self, id: &str, kind: &str, content: &str) -> Wish {
        match kind {
            "pending" => self.set(id, Status::Waits),
            "error" | "raise" => self.close(id, "error", content),
            _ => self.close(id, "ok", content),
        }
        self.go_on()
    }

    /// Whether a call waits for a decision.
    pub fn waits_for(&self, id: &str) -> bool {
        self.round.iter().any(|work| work.call.id == id && work.status == Status::Waits)
    }

    /// Somebody decided a call that waits.
    pub fn decide(&mut self, id: &str, is_approved: bool) {
        match is_approved {
            true => self.set(id, Status::Approved),
            false => self.close(id, "cancelled", "it was rejected"),
        }
    }

    /// The run ends where it is; nothing if it is over.
    pub fn end(&mut self, how: &'static str) -> Option<Wish> {
        (!self.is_over).then(|| self.rest(how))
    }

    /// The next thing to do: begin what is new, then replay what was approved.
    pub fn go_on(&mut self) -> Wish {
        while let Some(id) = self.first(Status::New) {
            match self.rule_of(&id) {
                Some(Rule::Runs) => return self.enter(&id),
                Some(Rule::Waits) => self.set(&id, Status::Waits),
                Some(Rule::Asks) => return Wish::Ask(self.work(&id).call.clone()),
                None => self.close(&id, "error", "there is no such tool"),
            }
        }
        if let Some(id) = self.first(Status::Approved) {
            return self.enter(&id);
        }
        if self.first(Status::Waits).is_some() {
            let waits = self.round.iter().filter(|work| work.status == Status::Waits);
            return Wish::Rest("Suspended", waits.map(|work| work.call.id.clone()).collect());
        }
        match self.round.is_empty() {
            true => self.rest("NaturalEnd"),
            false => Wish::Think,
        }
    }

    fn enter(&mut self, id: &str) -> Wish {
        self.set(id, Status::Runs);
        Wish::Act(self.work(id).call.clone())
    }

    fn rest(&mut self, how: &'static str) -> Wish {
        let open = self.round.iter().filter(|work| work.status != Status::Over);
        for id in open.map(|work| work.call.id.clone()).collect::<Vec<_>>() {
            self.close(&id, "cancelled", "the run is over");
        }
        self.is_over = true;
        Wish::Rest(how, Vec::new())
    }

    /// Every call has one result in the thread.
    fn close(&mut self, id: &str, status: &str, text: &str) {
        self.set(id, Status::Over);
        self.thread.push(object([
            ("role", "tool".into()),
            ("call", id.into()),
            ("status", status.into()),
            ("text", text.into()),
        ]));
    }

    fn set(&mut self, id: &str, status: Status) {
        self.work(id).status = status;
    }

    fn work(&mut self, id: &str) -> &mut Work {
        self.round.iter_mut().find(|work| work.call.id == id).expect("a call of this round")
    }

    fn first(&self, status: Status) -> Option<String> {
        let found = self.round.iter().find(|work| work.status == status);
        found.map(|work| work.call.id.clone())
    }

    fn rule_of(&mut self, id: &str) -> Option<Rule> {
        let name = self.work(id).call.name.clone();
        self.rules.get(&name).copied()
    }
}

fn shown(call: &Call) -> Json {
    object([("id", (&call.id).into()), ("name", (&call.name).into()), ("args", call.args.clone())])
}
