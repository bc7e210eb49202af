//! The sites and actions of waypoints and invariants.

use super::{END, File, Following, INVARIANT, RESULT, SEGMENT, Site, file_of, lasso, loose, unsupported};
use crate::validate::weave::unusable;
use crate::witness::{Invariant, Location, Loose, Scalar, Waypoint};
use driver::failure::Failure;

/// Adds the check of an invariant at the location of the invariant. `number` is the number of the error function that
/// the check calls.
///
/// `Err` if the location does not exist, if the type is not supported, or if the value is more than a condition.
pub(super) fn add_invariant(files: &mut [File<'_>], invariant: &Invariant, number: usize) -> Result<(), Failure> {
    let location = &invariant.location;
    let check = |condition: String| format!("(({condition}) ? (void)0 : {INVARIANT}{number}())");
    if let Some(loose) = &invariant.loose {
        let candidates = loose::files_of(files, location, Some((location.line, location.line)))?;
        let found = candidates.into_iter().find_map(|at| Some((at, files[at].node(invariant, loose)?)));
        let (at, site) = found
            .ok_or_else(|| unusable(format!("no place is known for the invariant `{}` of a node", invariant.value)))?;
        let condition = files[at].admit(&invariant.value, location)?;
        files[at].hooks.entry(site).or_default().always.push(check(condition));
        return Ok(());
    }
    let at = file_of(files, location)?;
    let file = &mut files[at];
    let check = check(file.admit(&invariant.value, location)?);
    let site = match invariant.kind.as_str() {
        "loop_invariant" => Site::BeforeCondition(file.keyword(location, &["while", "for", "do"])?),
        "location_invariant" => Site::Statement(file.statement(location)?),
        other => return Err(unsupported(location, &format!("{other} is not supported"))),
    };
    file.hooks.entry(site).or_default().always.push(check);
    Ok(())
}

/// The way in which executions must follow the waypoints.
pub(super) struct Way {
    /// The required strictness.
    pub following: Following,
    /// The number of segments before the cycle, and the number of all segments.
    pub extent: (usize, usize),
}

/// Adds the action of a waypoint at its sites. `number` is the number of its segment. A target only has an action in
/// [`Following::FirstVisitToTarget`].
///
/// `Err` if the location does not exist, if the kind or the action is not supported, or if the constraint is more than
/// a condition.
pub(super) fn add(files: &mut [File<'_>], waypoint: &Waypoint, number: usize, way: &Way) -> Result<(), Failure> {
    let location = &waypoint.location;
    let (sites, condition) = match &waypoint.loose {
        Some(loose) => by_line(files, waypoint, loose)?,
        None => exact(files, waypoint, way.following)?,
    };
    if waypoint.kind == "target" {
        for (file, site) in sites.into_iter().filter(|_| way.following == Following::FirstVisitToTarget) {
            // Another waypoint may be at this statement, so this is no case of a hook, of which one visit takes one.
            let reached = format!("({SEGMENT} == {number} ? (void)({SEGMENT} = {}) : (void)0)", number + 1);
            files[file].hooks.entry(site).or_default().always.push(reached);
        }
        return Ok(());
    }
    let (stem, all) = way.extent;
    let action = match (waypoint.action.as_str(), way.following) {
        ("follow", Following::FirstVisit | Following::FirstVisitToTarget) => {
            format!("({condition}) ? (void)({SEGMENT} = {}) : {END}", number + 1)
        }
        ("follow", Following::AnyVisit) => format!("({condition}) ? (void)({SEGMENT} = {}) : (void)0", number + 1),
        ("follow" | "cycle", Following::Endlessly) => {
            format!("({condition}) ? {} : {}", lasso::next(number, all, stem), lasso::STOP)
        }
        ("avoid", Following::Endlessly) => format!("({condition}) ? {} : (void)0", lasso::STOP),
        ("avoid", _) => format!("({condition}) ? {END} : (void)0"),
        (other, _) => return Err(unsupported(location, &format!("the action {other} is not supported"))),
    };
    for (file, site) in sites {
        files[file].hooks.entry(site).or_default().cases.push((number, action.clone()));
    }
    Ok(())
}

/// Sites with the numbers of their files, and the condition that holds there.
type Placed = (Vec<(usize, Site)>, String);

/// Returns the site of a waypoint of format 2.
fn exact(files: &[File<'_>], waypoint: &Waypoint, following: Following) -> Result<Placed, Failure> {
    let location = &waypoint.location;
    let at = file_of(files, location)?;
    let file = &files[at];
    let value = waypoint.constraint.as_ref().map(|c| &c.value);
    let (site, condition) = match waypoint.kind.as_str() {
        "target" => (Site::Statement(file.statement(location)?), String::new()),
        "assumption" => (Site::Statement(file.statement(location)?), text(file, value, location)?),
        "function_enter" => (Site::Called(file.parenthesis(location)?), "1".to_owned()),
        "function_return" => {
            let close = file.parenthesis(location)?;
            let given = || given(files, file, close, value, location).transpose();
            let condition = match (following == Following::Endlessly).then(given).flatten() {
                Some(given) => given?,
                None if value.is_some() => text(file, value, location)?,
                None => "1".to_owned(),
            };
            (Site::Returned(close), condition)
        }
        "branching" => {
            let site = Site::Condition(file.branching(location)?);
            let condition = match value {
                Some(Scalar::Int(case)) => format!("{RESULT} == {case}"),
                Some(Scalar::Text(case))
                    if is_switch(file, location) && !matches!(case.as_str(), "default" | "true" | "false") =>
                {
                    format!("{RESULT} == ({})", file.admit(case, location)?)
                }
                value => taken(value, location)?,
            };
            (site, condition)
        }
        other => return Err(unsupported(location, &format!("waypoints of type {other} are not supported"))),
    };
    Ok((vec![(at, site)], condition))
}

/// If the witness fixes the value of an input, returns an expression that sets the input to this value. This helps a
/// search for infinite executions, which tries few values itself. Returns `None` for any other constraint.
fn given(
    files: &[File<'_>],
    file: &File<'_>,
    close: usize,
    value: Option<&Scalar>,
    location: &Location,
) -> Result<Option<String>, Failure> {
    let Some(Scalar::Text(text)) = value else { return Ok(None) };
    let opening = file.source.opening(file.token_at(close)).unwrap_or(0);
    let function = file.source.word(opening.saturating_sub(1));
    let is_free = function.starts_with("__VERIFIER_nondet_")
        && !files.iter().any(|f| f.functions().any(|(_, name, _)| name == function));
    let said = text.trim().strip_prefix("\\result").and_then(|rest| rest.trim_start().strip_prefix("=="));
    let Some(said) = said.filter(|said| is_free && !said.contains("\\result") && is_number(said)) else {
        return Ok(None);
    };
    let said = file.admit(said.trim(), location)?;
    Ok(Some(format!("({RESULT} = ({said}), {RESULT} == ({said}))")))
}

/// Returns true if the text is a constant, so that none of its operators binds weaker than `==`.
fn is_number(text: &str) -> bool {
    let text = text.trim().trim_start_matches('-');
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

/// Returns the sites of a step of format 1.0.
fn by_line(files: &[File<'_>], waypoint: &Waypoint, loose: &Loose) -> Result<Placed, Failure> {
    let location = &waypoint.location;
    let is_target = waypoint.kind == "target";
    let mut sites: Vec<(usize, Site)> = Vec::new();
    let candidates = loose::files_of(files, location, loose.lines)?;
    // The target needs no site if its lines are unknown. If it names a function, the violation comes after the call of
    // this function, which is a step of its own.
    if !is_target || loose.lines.is_some() && waypoint.called.is_none() {
        for &at in &candidates {
            sites.extend(files[at].steps(waypoint, loose).into_iter().map(|site| (at, site)));
        }
        if sites.is_empty() {
            let place = loose.lines.map_or_else(|| "anywhere".to_owned(), |(line, _)| format!("in line {line}"));
            let of = waypoint.called.as_deref().map_or_else(String::new, |name| format!(" of {name}"));
            return Err(unusable(format!("{place} there is no step of the kind `{}`{of}", waypoint.kind)));
        }
        if waypoint.kind == "behind" && loose.lines.is_none() {
            return Err(unusable("an assumption of the witness has no location"));
        }
    }
    let Some(&(first, _)) = sites.first() else { return Ok((sites, String::new())) };
    let file = &files[first];
    let value = waypoint.constraint.as_ref().map(|c| &c.value);
    let condition = match (waypoint.kind.as_str(), value) {
        ("branching", value) => taken(value, location)?,
        ("function_return", value) => text(file, value, location)?,
        _ => "1".to_owned(),
    };
    let assumed = loose.assumed.as_ref().map(|assumed| file.admit(assumed, location)).transpose()?;
    let condition = match assumed {
        Some(assumed) if condition == "1" => assumed,
        Some(assumed) => format!("({condition}) && ({assumed})"),
        None => condition,
    };
    Ok((sites, condition))
}

/// Returns the condition of a waypoint in the form in which it is added to the program.
fn text(file: &File<'_>, value: Option<&Scalar>, location: &Location) -> Result<String, Failure> {
    match value {
        Some(Scalar::Text(text)) => file.admit(&text.replace("\\result", RESULT), location),
        Some(Scalar::Bool(value)) => Ok(i64::from(*value).to_string()),
        Some(Scalar::Int(value)) => Ok(value.to_string()),
        None => Err(unsupported(location, "the waypoint has no condition")),
    }
}

/// Returns the condition that a branch is taken, or that it is not taken.
fn taken(value: Option<&Scalar>, location: &Location) -> Result<String, Failure> {
    match value {
        Some(Scalar::Bool(true)) => Ok(format!("!!{RESULT}")),
        Some(Scalar::Bool(false)) => Ok(format!("!{RESULT}")),
        Some(Scalar::Text(text)) if text == "true" => Ok(format!("!!{RESULT}")),
        Some(Scalar::Text(text)) if text == "false" => Ok(format!("!{RESULT}")),
        _ => Err(unsupported(location, "this branch is not supported")),
    }
}

/// Returns true if the statement at the location is a `switch`.
fn is_switch(file: &File<'_>, location: &Location) -> bool {
    file.keyword(location, &["switch"]).is_ok()
}
