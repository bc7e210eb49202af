//! Preconditions on the lengths of buffers. An entry function that takes a pointer and a length is called with buffers
//! of any length, so it can access elements after the end. Callers that pass long enough buffers rule that out.

use super::Event;
use super::arguments::{Argument, Arguments, Member, Target};
use super::{Object, Step};
use frontend_llvm::MAX_OBJECT;

/// The maximum length of a chain of pointers from an argument to the buffer.
const MAX_CHAIN: usize = 4;

/// A condition on a call of the entry function that rules a violation out: a buffer is as long as a number that the
/// caller passes. The program states no condition about the size of this buffer. Other executions may violate the same
/// place under the condition: only a verification of a caller that assumes it tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Precondition {
    /// The entry function.
    pub function: String,
    /// The least length of the buffer in words.
    pub length: String,
    /// The buffer as a C expression over the parameters.
    pub pointer: String,
    /// The condition as a C expression over the parameters.
    pub condition: String,
}

/// An integer that a caller passes: its C expression and its value.
struct Integer {
    text: String,
    value: u64,
}

impl Precondition {
    /// Returns the precondition that rules out an access after the end of `object`. `index` is the index of the object
    /// in the objects of `call`. `accessed` is the number of accessed bytes, and `writes` is true for a write. `steps`
    /// are the steps to the access. Returns `None` if the access is not after the end, if the caller passes no number
    /// that may be the length, if the object is one structure, or if the pointer to the object has no expression.
    pub(super) fn for_access(
        call: &Arguments,
        object: &Object,
        index: usize,
        accessed: u64,
        writes: bool,
        steps: &[Step],
    ) -> Option<Self> {
        let needed = u64::try_from(object.offset).ok()?.checked_add(accessed.max(1))?;
        if needed <= object.size || needed > MAX_OBJECT {
            return None;
        }
        let target = call.objects.get(index)?;
        let is_structure = ["struct ", "union "].iter().any(|kind| target.ty.starts_with(kind))
            || target.members.iter().any(|(path, _)| path.contains('.'));
        if is_structure {
            return None;
        }
        let element = target.element;
        let pointer = pointer_to(call, index, MAX_CHAIN)?;
        let is_decisive = |text: &str| {
            let names = |step: &Step| match &step.event {
                Event::Branch { operands, .. } => operands.iter().any(|(name, _)| name == text),
                _ => false,
            };
            steps.iter().any(names)
        };
        // The smallest number that is large enough is most probably the length.
        let best = |more: u64| {
            let is_enough = |i: &Integer| i.value.saturating_add(more).saturating_mul(element) >= needed;
            integers(call).into_iter().filter(is_enough).min_by_key(|i| (!is_decisive(&i.text), i.value))
        };
        // If the program uses the number as an index, the length is larger by one.
        let count = best(0).map(|length| length.text).or_else(|| Some(format!("{} + 1", best(1)?.text)))?;
        let unit = if element == 1 { "byte" } else { "element" };
        let length = format!("`{count}` {unit}s");
        let factor = if count.contains(' ') { format!("({count})") } else { count.clone() };
        let size = if element == 1 { count } else { format!("{factor} * sizeof *{pointer}") };
        let ok = if writes { "__CPROVER_w_ok" } else { "__CPROVER_r_ok" };
        let condition = format!("{ok}({pointer}, {size})");
        Some(Self { function: call.function.clone(), length, pointer, condition })
    }

    /// Returns advice on how to verify the entry function under the precondition.
    pub fn help(&self) -> String {
        let Self { function, length, pointer, condition } = self;
        format!(
            "if callers of `{function}` pass at least {length} in `{pointer}`, verify a caller that assumes it: \
             `__CPROVER_assume({condition});` (docs/guide/functions.md)"
        )
    }
}

/// Returns the C expression of a pointer to the object with this index, through at most `most` other objects.
fn pointer_to(call: &Arguments, index: usize, most: usize) -> Option<String> {
    let target = Some(Target::Object(index));
    if let Some(argument) = call.values.iter().find(|a| a.target == target && !a.name.is_empty()) {
        return Some(argument.name.clone());
    }
    let most = most.checked_sub(1)?;
    call.objects.iter().enumerate().find_map(|(holder, object)| {
        let is_pointer = |(_, member): &&(String, Member)| matches!(member, Member::Pointer(to) if *to == target);
        let (path, _) = object.members.iter().find(is_pointer).filter(|_| holder != index)?;
        Some(part(&pointer_to(call, holder, most)?, path))
    })
}

/// Returns the C expression of the part of the target of `pointer` at `path`.
fn part(pointer: &str, path: &str) -> String {
    match path.strip_prefix('.') {
        Some(member) => format!("{pointer}->{member}"),
        None if path.is_empty() => format!("*{pointer}"),
        None => format!("{pointer}{path}"),
    }
}

/// Returns the integers that are not negative among the arguments, and among the members of objects to which pointers
/// lead.
fn integers(call: &Arguments) -> Vec<Integer> {
    let of_argument = |a: &Argument| {
        let is_negative = !a.c_type.contains("unsigned") && a.value.sign();
        let value = a.value.to_u64().filter(|_| a.is_integer() && !a.name.is_empty() && !is_negative)?;
        Some(Integer { text: a.name.clone(), value })
    };
    let mut all: Vec<Integer> = call.values.iter().filter_map(of_argument).collect();
    for (index, object) in call.objects.iter().enumerate() {
        let Some(pointer) = pointer_to(call, index, MAX_CHAIN) else { continue };
        let of_member = |(path, member): &(String, Member)| match member {
            Member::Value(shown) => Some(Integer { text: part(&pointer, path), value: shown.parse().ok()? }),
            Member::Pointer(_) => None,
        };
        all.extend(object.members.iter().filter_map(of_member));
    }
    all
}
