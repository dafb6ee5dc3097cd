//! What random Promela programs do with channels: send, receive, ask, pass on.

use super::PromelaStatement;
use super::declared::{Buffer, DeclaredChannel, MessageField};
use super::parts::PromelaMaker;

impl PromelaMaker<'_> {
    pub(super) fn asked_channel(&mut self) -> String {
        let channel = self.choices.pick(&self.channels).clone();
        if channel.buffer != Buffer::Some {
            return match self.choices.below(3) {
                0 => format!("empty({})", channel.name),
                1 => format!("nfull({})", channel.name),
                _ => "(x0 < 2)".into(),
            };
        }
        match self.choices.below(7) {
            0 => format!("empty({})", channel.name),
            1 => format!("full({})", channel.name),
            2 => format!("nempty({})", channel.name),
            3 => format!("nfull({})", channel.name),
            4 | 5 => format!("{}?[{}]", channel.name, self.patterns(&channel, true)),
            _ => format!("{}??[{}]", channel.name, self.patterns(&channel, true)),
        }
    }

    pub(super) fn talk(&mut self) -> PromelaStatement {
        if self.channels.is_empty() {
            return self.simple();
        }
        let channel = self.choices.pick(&self.channels).clone();
        if channel.buffer != Buffer::Some {
            return PromelaStatement::Line(match self.choices.below(2) {
                0 => format!("{}!{}", channel.name, self.values(&channel)),
                _ => format!("{}?{}", channel.name, self.patterns(&channel, false)),
            });
        }
        self.talk_on(&channel)
    }

    pub(super) fn buffered_talk(&mut self) -> PromelaStatement {
        match self.channels.iter().find(|channel| channel.buffer == Buffer::Some).cloned() {
            Some(channel) => self.talk_on(&channel),
            None => self.simple(),
        }
    }

    fn talk_on(&mut self, channel: &DeclaredChannel) -> PromelaStatement {
        let name = &channel.name;
        PromelaStatement::Line(match self.choices.below(9) {
            0..=2 => format!("{name}!{}", self.values(channel)),
            3 => format!("{name}!!{}", self.values(channel)),
            4 | 5 => format!("{name}?{}", self.patterns(channel, false)),
            6 => format!("{name}??{}", self.patterns(channel, false)),
            7 => format!("{name}?<{}>", self.patterns(channel, false)),
            _ => format!("{name}??<{}>", self.patterns(channel, false)),
        })
    }

    /// A channel with messages of one number, where there is one; a variable that names one.
    pub(super) fn simple_channel(&mut self, only_variables: bool) -> Option<String> {
        let fits = |channel: &&DeclaredChannel| {
            channel.fields == [MessageField::Number] && (!only_variables || channel.buffer == Buffer::Either)
        };
        let found: Vec<String> = self.channels.iter().filter(fits).map(|channel| channel.name.clone()).collect();
        if found.is_empty() { None } else { Some(self.choices.pick(&found).clone()) }
    }

    fn values(&mut self, channel: &DeclaredChannel) -> String {
        let value = |field: &MessageField, maker: &mut Self| match field {
            MessageField::Number => maker.number(1),
            MessageField::Name if maker.has_name && maker.choices.chance(20) => "m".into(),
            MessageField::Name => (*maker.choices.pick(&["A", "B", "C"])).into(),
            MessageField::Channel => maker.simple_channel(false).unwrap_or_else(|| channel.name.clone()),
            MessageField::Structure => (*maker.choices.pick(&["ms", "mt"])).into(),
        };
        let values: Vec<String> = channel.fields.iter().map(|field| value(field, self)).collect();
        match values.as_slice() {
            [first, rest @ ..]
                if !rest.is_empty() && channel.fields[0] == MessageField::Name && self.choices.chance(40) =>
            {
                format!("{first}({})", rest.join(", "))
            }
            _ => values.join(", "),
        }
    }

    fn patterns(&mut self, channel: &DeclaredChannel, only_asks: bool) -> String {
        let pattern = |field: &MessageField, maker: &mut Self| match (field, maker.choices.below(6)) {
            (MessageField::Structure, _) => (*maker.choices.pick(&["ms", "mt"])).into(),
            (_, 0) => "_".to_owned(),
            (MessageField::Channel, _) if only_asks => "_".to_owned(),
            (MessageField::Channel, _) => maker.simple_channel(true).unwrap_or_else(|| "_".to_owned()),
            (MessageField::Name, 1) if maker.has_name && !only_asks => "m".to_owned(),
            (MessageField::Name, 2) if maker.has_name => "eval(m)".to_owned(),
            (MessageField::Name, _) => (*maker.choices.pick(&["A", "B"])).into(),
            (_, 1) => maker.choices.below(3).to_string(),
            (_, 2) => format!("eval({})", maker.target()),
            (_, 3) if maker.choices.chance(20) => format!("eval({} + 1)", maker.target()),
            _ if only_asks => maker.choices.below(3).to_string(),
            _ => maker.room(if channel.name == "k" { 16 } else { 8 }),
        };
        let patterns: Vec<String> = channel.fields.iter().map(|field| pattern(field, self)).collect();
        match patterns.as_slice() {
            [first, rest @ ..]
                if !rest.is_empty() && channel.fields[0] == MessageField::Name && self.choices.chance(30) =>
            {
                format!("{first}({})", rest.join(", "))
            }
            _ => patterns.join(", "),
        }
    }
}
