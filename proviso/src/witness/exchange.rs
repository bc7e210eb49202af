//! Component CEGAR in which components exchange verification witnesses (CC-Wit: Beyer, Haltermann, Lemberger, Wehrheim,
//! ICSE 2022). Candidates are violation witnesses, and precisions are correctness witnesses.

use super::gia::SourceMap;
use super::{Content, Entry, Places};
use anyhow::{Context, Error, anyhow, bail};
use cfa::Program;
use cooperate::gia::{Gia, Says};
use driver::plan::Translate;
use driver::source::Sources;
use std::path::PathBuf;

/// The translation of each automaton that components exchange into a verification witness and back.
pub struct Witnesses;

impl Translate for Witnesses {
    fn name(&self) -> &'static str {
        "witnesses"
    }

    // A final answer is returned unchanged, because no component continues from it.
    fn translate(&self, answer: &Gia, program: &mut Program, files: &[PathBuf]) -> anyhow::Result<Gia> {
        if answer.has(Says::Reachable) || answer.is_all_unreachable() {
            return Ok(answer.clone());
        }
        let places = Places::new(files)?;
        let sources = Sources::new();
        let source = SourceMap { places: &places, sources: &sources };
        let (entry_type, content) = match answer.only_path(Says::Candidate, program) {
            Some(path) => ("violation_sequence", Content::Segments(source.waypoints(&path, &[], program).0)),
            None if answer.has(Says::Candidate) => {
                bail!("a witness describes one path, but the candidates are on several")
            }
            None => ("invariant_set", Content::Invariants(source.invariants(answer, program).0)),
        };
        let width = program.layout.pointer_width;
        let text = super::text(&[Entry::of_program(entry_type, content, files, width)]);
        let [entry] =
            <[Entry; 1]>::try_from(super::parse(&text).map_err(Error::msg)?).ok().context("one entry was written")?;
        let (gia, _lost) = source.gia_of(&entry, program)?;
        // A candidate that the translation loses is no proof.
        match answer.has(Says::Candidate) && !gia.has(Says::Candidate) {
            true => Err(anyhow!("the witness cannot express the candidate")),
            false => Ok(gia),
        }
    }
}
