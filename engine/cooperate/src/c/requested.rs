//! The declarations and definitions that the text of a file needs.

use cfa::{FuncId, GlobalId, VarId};
use std::collections::BTreeMap;

/// An entity of the program that the file must declare or define.
#[derive(Clone, Copy, Debug)]
pub enum Entity {
    /// A function.
    Function(FuncId),
    /// A global object.
    Object(GlobalId),
    /// A global variable.
    Variable(VarId),
}

/// The entities that the text refers to, each once and in the order of their first use, and the declarations of library
/// functions and definitions of helpers that it calls.
#[derive(Default)]
pub struct Requested {
    functions: Vec<FuncId>,
    objects: Vec<GlobalId>,
    variables: Vec<VarId>,
    /// The numbers of functions, objects and variables that [`take_next`](Self::take_next) has returned.
    returned: [usize; 3],
    library: BTreeMap<String, String>,
    helpers: BTreeMap<String, String>,
}

impl Requested {
    /// Adds an entity. The caller must not add it twice.
    pub fn add(&mut self, entity: Entity) {
        match entity {
            Entity::Function(f) => self.functions.push(f),
            Entity::Object(g) => self.objects.push(g),
            Entity::Variable(v) => self.variables.push(v),
        }
    }

    /// Returns the next entity to write: functions precede objects, and objects precede variables.
    pub fn take_next(&mut self) -> Option<Entity> {
        let [functions, objects, variables] = self.returned;
        let function = self.functions.get(functions).map(|&f| (0, Entity::Function(f)));
        let object = || self.objects.get(objects).map(|&g| (1, Entity::Object(g)));
        let variable = || self.variables.get(variables).map(|&v| (2, Entity::Variable(v)));
        let (kind, entity) = function.or_else(object).or_else(variable)?;
        self.returned[kind] += 1;
        Some(entity)
    }

    /// Returns the functions.
    pub fn functions(&self) -> &[FuncId] {
        &self.functions
    }

    /// Returns the global objects.
    pub fn objects(&self) -> &[GlobalId] {
        &self.objects
    }

    /// Returns the global variables.
    pub fn variables(&self) -> &[VarId] {
        &self.variables
    }

    /// Adds the declaration of a library function, unless it has one.
    pub fn declare_library(&mut self, name: &str, declaration: String) {
        self.library.entry(name.to_owned()).or_insert(declaration);
    }

    /// Returns true if the library function is declared.
    pub fn has_library(&self, name: &str) -> bool {
        self.library.contains_key(name)
    }

    /// Adds the definition of a helper, unless it has one.
    pub fn define_helper(&mut self, name: &str, definition: String) {
        self.helpers.entry(name.to_owned()).or_insert(definition);
    }

    /// Returns the text of the declarations of library functions and of the helpers, ordered by name.
    pub fn text(&self) -> String {
        let library: String = self.library.values().map(|declaration| format!("{declaration}\n")).collect();
        let helpers: String = self.helpers.values().map(String::as_str).collect();
        format!("{library}\n{helpers}")
    }
}
