//! The adapter of the tiny agent: it reads requests of the Runlock protocol from standard input, one a
//! line, and answers each with all that happened since.  A wish of the agent is a gate, at which it waits.

mod agent;
mod json;

use agent::{Agent, Call, Rule, Wish};
use json::{object, Json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};

const HANDSHAKE: &str = r#"{
    "protocol": 1,
    "implementation": {"name": "tiny-agent", "version": "1.0", "language": "rust"},
    "profile": "core",
    "policies": {"round.executor": "sequential", "round.rest": "deferred", "resume": "partial"},
    "control": {"settle": "exact", "crash": [], "store": "none", "clock": "virtual", "step": "none"},
    "gates": ["model", "permission", "tool"],
    "observes": ["run.finished"],
    "stimuli": ["decide", "cancel", "cancel.waiting", "run.again", "clock.advance", "deliver"],
    "decisions": {"live": false, "ids": false, "payload": false}
}"#;

struct Gate {
    id: String,
    on: &'static str,
    call: String,
}

struct Adapter {
    agent: Agent,
    run: Json,
    step: usize,
    gates: usize,
    gate: Option<Gate>,
    attempts: HashMap<String, usize>,
    resumes: HashMap<String, Json>, // the decision that a call is replayed for
    seen: Vec<Json>,
    refused: Vec<Json>,
}

impl Adapter {
    fn open(scenario: &Json) -> Adapter {
        let tools = scenario.get("tools").items().iter();
        let rules =
            tools.map(|tool| (tool.get("name").text().to_string(), rule(tool.get("permission").text())));
        Adapter {
            agent: Agent::new(rules.collect()),
            run: Json::Null,
            step: 0,
            gates: 0,
            gate: None,
            attempts: HashMap::new(),
            resumes: HashMap::new(),
            seen: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn stimulate(&mut self, method: &str, params: &Json, at: usize) -> Result<(), String> {
        match method {
            "run.start" => {
                self.run = params.get("run").clone();
                self.step = 0;
                let wish = self.agent.say(params.get("input").text());
                self.wish(wish);
            }
            "decide" | "cancel" if *params.get("run") != self.run => self.turn_down(params, at),
            "gate.release" => self.release(params.get("gate").text(), params.get("outcome")),
            "decide" => self.decide(params.get("decisions").items(), at),
            "cancel" => self.end("Cancelled"),
            "clock.advance" | "settle" => {}
            "deliver" => {
                for (at, one) in params.get("stimuli").items().iter().enumerate() {
                    self.stimulate(one.get("method").text(), one.get("params"), at)?;
                }
            }
            other => return Err(format!("{other} is not supported")),
        }
        Ok(())
    }

    fn wish(&mut self, wish: Wish) {
        match wish {
            Wish::Think => {
                self.step += 1;
                let thread = self.agent.thread.iter().cloned().collect();
                self.gate("model", "", [("messages", thread)]);
            }
            Wish::Ask(call) => {
                let (name, args) = ((&call.name).into(), call.args);
                let shown = [("call", (&call.id).into()), ("name", name), ("args", args)];
                self.gate("permission", &call.id, shown);
            }
            Wish::Act(call) => self.enter(call),
            Wish::Rest(how, waiting) => {
                let reason = object([("code", how.into())]);
                self.show("run.finished", [("reason", reason), ("pending", waiting.iter().collect())]);
            }
        }
    }

    fn enter(&mut self, call: Call) {
        let attempt = self.attempts.entry(call.id.clone()).or_default();
        *attempt += 1;
        let shown = [
            ("call", (&call.id).into()),
            ("name", (&call.name).into()),
            ("args", call.args.clone()),
            ("attempt", (*attempt).into()),
            ("resume", self.resumes.remove(&call.id).unwrap_or(Json::Null)),
        ];
        self.gate("tool", &call.id, shown);
    }

    fn gate<const N: usize>(&mut self, on: &'static str, call: &str, shown: [(&str, Json); N]) {
        self.gates += 1;
        let id = format!("g{}", self.gates);
        self.show("gate.open", shown);
        if let Some(Json::Object(seen)) = self.seen.last_mut() {
            seen.insert("gate".into(), (&id).into());
            seen.insert("on".into(), on.into());
            seen.insert("step".into(), self.step.into());
        }
        self.gate = Some(Gate { id, on, call: call.to_string() });
    }

    fn release(&mut self, id: &str, outcome: &Json) {
        let Some(gate) = self.gate.take_if(|gate| gate.id == id) else {
            return; // it was given up in the same race
        };
        let kind = outcome.get("kind").text();
        let said = match outcome.get("content") {
            Json::Null => outcome.get("message").text().to_string(),
            Json::Text(text) => text.clone(),
            other => other.to_string(),
        };
        if kind == "fault" {
            return self.end("Error");
        }
        let wish = match gate.on {
            "model" => {
                let calls: Vec<Call> = outcome.get("tool_calls").items().iter().map(call).collect();
                for call in &calls {
                    self.attempts.remove(&call.id); // an id that comes again is a new call
                    self.resumes.remove(&call.id);
                }
                self.agent.turn(outcome.get("text").text(), calls)
            }
            "permission" => self.agent.judged(&gate.call, kind, &said),
            _ => self.agent.answered(&gate.call, kind, &said),
        };
        self.wish(wish);
    }

    fn decide(&mut self, decisions: &[Json], at: usize) {
        let mut is_taken = false;
        for decision in decisions {
            let id = decision.get("call").text();
            if self.agent.waits_for(id) {
                self.agent.decide(id, decision.get("action").text() == "resume");
                self.resumes.insert(id.to_string(), resume(decision));
                is_taken = true;
            } else {
                let which = decision.get("id").clone();
                let why = ("why", "no call of that id waits".into());
                self.refused.push(object([("stimulus", at.into()), ("decision", which), why]));
            }
        }
        if is_taken {
            let wish = self.agent.go_on();
            self.wish(wish);
        }
    }

    fn turn_down(&mut self, params: &Json, at: usize) {
        let which = params.get("run").text();
        let why = format!("run {which} is over, and another one has followed it");
        self.refused.push(object([("stimulus", at.into()), ("why", (&why).into())]));
    }

    fn end(&mut self, how: &'static str) {
        if let Some(wish) = self.agent.end(how) {
            if let Some(gate) = self.gate.take() {
                self.show("gate.closed", [("gate", (&gate.id).into()), ("because", how.into())]);
            }
            self.wish(wish);
        }
    }

    fn show<const N: usize>(&mut self, kind: &str, fields: [(&str, Json); N]) {
        let mut seen = object(fields);
        if let Json::Object(members) = &mut seen {
            members.insert("kind".into(), kind.into());
            members.insert("run".into(), self.run.clone());
        }
        self.seen.push(seen);
    }

    fn report(&mut self) -> Json {
        let (seen, refused) = (std::mem::take(&mut self.seen), std::mem::take(&mut self.refused));
        object([
            ("observations", Json::List(seen)),
            ("quiescent", Json::Bool(true)),
            ("refused", Json::List(refused)),
        ])
    }
}

fn rule(permission: &str) -> Rule {
    match permission {
        "ask" => Rule::Waits,
        "gate" => Rule::Asks,
        _ => Rule::Runs,
    }
}

fn resume(decision: &Json) -> Json {
    let of = |name: &'static str| decision.get(name).clone();
    object([("decision", of("id")), ("action", of("action")), ("payload", of("payload"))])
}

fn call(asked: &Json) -> Call {
    let (id, name) = (asked.get("id").text().to_string(), asked.get("name").text().to_string());
    Call { id, name, args: asked.get("args").clone() }
}

fn answer(adapter: &mut Adapter, method: &str, params: &Json) -> Result<Json, String> {
    match method {
        "initialize" => Json::parse(HANDSHAKE),
        "scenario.open" => {
            *adapter = Adapter::open(params);
            Ok(object([]))
        }
        "scenario.close" | "shutdown" => Ok(object([("leaks", Json::List(Vec::new()))])),
        _ => adapter.stimulate(method, params, 0).map(|()| adapter.report()),
    }
}

fn main() -> io::Result<()> {
    let mut adapter = Adapter::open(&Json::Null);
    for line in io::stdin().lock().lines() {
        let request = Json::parse(&line?).map_err(io::Error::other)?;
        let told = match answer(&mut adapter, request.get("method").text(), request.get("params")) {
            Ok(result) => ("result", result),
            Err(why) => ("error", object([("code", Json::Number(-32001.0)), ("message", (&why).into())])),
        };
        let id = request.get("id").clone();
        writeln!(io::stdout(), "{}", object([("jsonrpc", "2.0".into()), ("id", id), told]))?;
    }
    Ok(())
}
