//! `mutations.xml` of any age as records, and what their words mean.
//!
//! In: one `<mutation>` element. Out: [`Record`], statuses, operator classes, replacements. I/O: none.
//!
//! Shape seen in PIT 1.22.1, 1.25.9 and 1.30.2; `index`/`block` without their lists before 1.9; three lists of tests instead of
//! one killing test under `fullMutationMatrix`. The attribute `partial` says that coverage was reported, not that the
//! file is incomplete, and `detected` calls a died minion detected: neither is read.

use polymut_schemas::{OperatorClass, Status};

use super::xml::Element;
use crate::{Change, Doubt, Key, ParseError, Tests};

/// One `<mutation>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Binary class name with dots.
    pub(crate) class: String,
    /// Method name.
    pub(crate) method: String,
    /// `sourceFile`, a bare name or `unknown_source`.
    pub(crate) source: String,
    /// Line; 0 when the class has no line table.
    pub(crate) line: u32,
    /// The tool's own word.
    pub(crate) word: String,
    /// What it means, and why it is doubted.
    pub(crate) status: Status,
    /// Why the status is doubted.
    pub(crate) doubt: Option<Doubt>,
    /// The tool's words about the change.
    pub(crate) description: String,
    /// Class name of the mutator.
    pub(crate) mutator: String,
    /// Name of the mutant: class, method, descriptor, indexes, mutator.
    pub(crate) key: Key,
    /// Tests.
    pub(crate) tests: Tests,
    /// Line in the report.
    pub(crate) at: usize,
}

impl Record {
    /// Reads one element; `artifact` is named in errors.
    pub(crate) fn read(element: &Element, artifact: &str) -> Result<Self, ParseError> {
        let at = format!("{artifact}:{}", element.line);
        let want = |name: &str| {
            element.text_of(name).map(str::to_owned).ok_or_else(|| ParseError::Malformed {
                at: at.clone(),
                why: format!("a mutation has no `{name}`"),
            })
        };
        let word = element.attribute("status").unwrap_or_default().to_owned();
        let (status, doubt) = meaning(&word).ok_or_else(|| ParseError::UnknownStatus {
            tool: super::ID,
            word: word.clone(),
            at: at.clone(),
        })?;
        let class = want("mutatedClass")?;
        let method = want("mutatedMethod")?;
        let mutator = want("mutator")?;
        let line = want("lineNumber")?.parse().map_err(|_| ParseError::Malformed {
            at: at.clone(),
            why: "`lineNumber` is no number".to_owned(),
        })?;
        let descriptor = element.text_of("methodDescription").unwrap_or_default();
        let indexes = indexes(element).join("+");
        Ok(Self {
            key: Key(format!("{class}#{method}{descriptor}#{indexes}#{}", short(&mutator))),
            source: element.text_of("sourceFile").unwrap_or("unknown_source").to_owned(),
            description: element.text_of("description").unwrap_or_default().to_owned(),
            tests: tests(element),
            at: element.line,
            class,
            method,
            line,
            word,
            status,
            doubt,
            mutator,
        })
    }

    /// The package, dots between parts.
    pub(crate) fn package(&self) -> &str {
        self.class.rsplit_once('.').map_or("", |(package, _)| package)
    }

    /// The change as the document shows it. PIT mutates bytecode and names no source text; the few replacements that
    /// its words determine are in the description.
    pub(crate) fn change(&self) -> Change {
        Change {
            operator: short(&self.mutator).to_owned(),
            class: Some(class_of(&self.mutator)),
            description: Some(self.description.clone()),
            ..Change::default()
        }
    }

    /// The method as a reader names it: a lambda by the method that holds it, a constructor by its class.
    pub(crate) fn function(&self) -> String {
        let simple = self.class.rsplit(['.', '$']).next().unwrap_or_default();
        match self.method.as_str() {
            "<init>" | "<clinit>" => simple.to_owned(),
            name => lambda_owner(name).unwrap_or(name).to_owned(),
        }
    }
}

/// `total` of `lambda$total$0`.
fn lambda_owner(name: &str) -> Option<&str> {
    name.strip_prefix("lambda$")?.rsplit_once('$').map(|(owner, _)| owner)
}

/// Status and doubt of PIT's `DetectionStatus`.
fn meaning(word: &str) -> Option<(Status, Option<Doubt>)> {
    Some(match word {
        "KILLED" => (Status::Killed, None),
        "SURVIVED" => (Status::Survived, None),
        "NO_COVERAGE" => (Status::NoCoverage, None),
        "TIMED_OUT" => (Status::Timeout, Some(Doubt::Load)),
        "NON_VIABLE" => (Status::Unviable, None),
        // The next, innocent mutant in the same JVM can be hit as well.
        "MEMORY_ERROR" => (Status::OutOfMemory, Some(Doubt::MaybeEnvironment)),
        "RUN_ERROR" => (Status::Errored, Some(Doubt::Died)),
        "NOT_STARTED" | "STARTED" => (Status::NotRun, None),
        // Plugins only (1.25): judged equivalent without a test.
        "EQUIVALENT" => (Status::Ignored, None),
        _ => return None,
    })
}

/// Padded, so that keys sort as the bytecode does: the order tells equal mutants of a line apart.
fn indexes(element: &Element) -> Vec<String> {
    let list = element.child("indexes").unwrap_or(element);
    let indexes = list.children.iter().filter(|child| child.name == "index");
    indexes.map(|index| format!("{:0>5}", index.text.trim())).collect()
}

fn tests(element: &Element) -> Tests {
    let list = |name: &str| -> Vec<String> {
        let text = element.text_of(name).unwrap_or_default();
        text.split('|').filter(|test| !test.is_empty()).map(str::to_owned).collect()
    };
    let one = element.text_of("killingTest").map(str::to_owned);
    Tests {
        killed_by: one.map_or_else(|| list("killingTests"), |test| vec![test]),
        covered_by: list("coveringTests"),
    }
}

/// `MathMutator` of `org.pitest…mutators.MathMutator`.
pub(crate) fn short(mutator: &str) -> &str {
    mutator.rsplit('.').next().unwrap_or(mutator)
}

fn class_of(mutator: &str) -> OperatorClass {
    let name = short(mutator);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["Math", "BigInteger", "BigDecimal"]) {
        OperatorClass::Arithmetic
    } else if starts(&["ConditionalsBoundary"]) {
        OperatorClass::Comparison
    } else if starts(&["NegateConditionals", "RemoveConditional"]) {
        OperatorClass::Logical
    } else if starts(&["Increments", "RemoveIncrements"]) {
        OperatorClass::Assignment
    } else if starts(&["InvertNegs", "ABS", "AOR", "OBBN", "UOI"]) {
        OperatorClass::Unary
    } else if starts(&["InlineConstant", "CRCR"]) {
        OperatorClass::Literal
    } else if name.contains("Return") {
        OperatorClass::ReturnValue
    } else if starts(&["VoidMethodCall", "NonVoidMethodCall", "ConstructorCall", "MemberVariable"]) {
        OperatorClass::Removal
    } else if starts(&["RemoveSwitch", "Switch"]) {
        OperatorClass::ControlFlow
    } else if starts(&["ArgumentPropagation", "NakedReceiver"]) {
        OperatorClass::Call
    } else {
        OperatorClass::Other
    }
}
