//! Where results go: the standard output, or a file that is whole or not there.

use report::Style;

use crate::failure::Failure;
use crate::files::Target;
use crate::options::{DisplayOptions, Format, OutputOptions};
use crate::terminal;

/// Where results go, and how they look there.
pub struct Output {
    /// The file; `None` for the standard output.
    target: Option<Target>,
    /// How text is dressed.
    pub style: Style,
    /// Text or JSON.
    pub format: Format,
}

impl Output {
    /// Asks whether the file can be written, before any work starts.
    pub fn new(options: &OutputOptions, display: &DisplayOptions) -> Result<Self, Failure> {
        let target = options.output.as_deref().map(Target::new).transpose()?;
        let style = match target {
            Some(_) => terminal::style_for_file(display),
            None => terminal::style_for_stdout(display),
        };
        Ok(Output { target, style, format: options.format })
    }

    /// Whether results go to the standard output.
    pub fn is_stdout(&self) -> bool {
        self.target.is_none()
    }

    /// Writes everything that there is to write.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        match &self.target {
            Some(target) => Ok(target.write(text)?),
            None => Ok(terminal::print(text)?),
        }
    }

    /// Writes a JSON document, with a line end.
    pub fn write_json(&self, document: &serde_json::Value) -> Result<(), Failure> {
        self.write(&format!("{document:#}\n"))
    }
}
