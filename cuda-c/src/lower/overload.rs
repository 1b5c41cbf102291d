//! Selection among overloads, and deduction of template arguments.

use super::Lowering;
use super::facts::TemplateValue;
use super::value::{Place, Value};
use crate::ast::{Base, Expr, ExprKind, Function, TemplateArg, TemplateParam, TypeName, Variable};
use crate::error::{Outcome, fault};
use crate::types::Ty;
use std::rc::Rc;

pub(super) fn place_type(place: &Place) -> Ty {
    match place {
        Place::At { ty, .. } => ty.clone(),
        Place::Variable(var) => var.ty.clone(),
        Place::Value(value) => value.ty.clone(),
    }
}

fn is_name(expr: &Expr, name: &Rc<str>) -> bool {
    matches!(&expr.kind, ExprKind::Name(other, arguments) if other == name && arguments.is_empty())
}

/// Returns true if a template parameter takes this argument: a type or a value.
fn is_kind(value: &TemplateValue, parameter: &TemplateParam) -> bool {
    matches!(value, TemplateValue::Type(_)) == parameter.value.is_none()
}

/// Returns arguments in which each list in braces has the type of its parameter, if one candidate takes this many.
/// `n_before` parameters precede those of the arguments.
pub(super) fn with_typed_lists(
    candidates: &[Rc<Function>],
    arguments: &[Expr],
    n_before: usize,
) -> Vec<Expr> {
    let takes = |function: &&Rc<Function>| function.parameters.len() == n_before + arguments.len();
    let mut fitting = candidates.iter().filter(takes);
    let (Some(only), None) = (fitting.next(), fitting.next()) else {
        return arguments.to_vec();
    };
    let parameters = only.parameters.iter().skip(n_before);
    let typed = |(argument, parameter): (&Expr, &Variable)| match &argument.kind {
        ExprKind::List(parts) => Expr {
            at: argument.at,
            kind: ExprKind::Construct(parameter.ty.clone(), parts.clone()),
        },
        _ => argument.clone(),
    };
    arguments.iter().zip(parameters).map(typed).collect()
}

impl Lowering<'_> {
    /// Returns the argument that a template parameter stands for in the type of a function's parameter.
    fn matched(
        &self,
        declared: &TypeName,
        is_array: bool,
        name: &Rc<str>,
        found: &Ty,
    ) -> Option<TemplateValue> {
        let Base::Name(base, arguments) = &declared.base else {
            return None;
        };
        let mut ty = found.clone();
        for _ in 0..declared.pointers + u32::from(is_array) {
            ty = match ty {
                Ty::Pointer(inner) | Ty::Array(inner, _) => (*inner).clone(),
                _ => return None,
            };
        }
        match ty {
            Ty::Struct(structure) if !arguments.is_empty() && structure.name == *base => {
                let bound = self.arguments_of(&structure);
                let mut pairs = arguments.iter().zip(&bound);
                pairs.find_map(|pair| match pair {
                    (TemplateArg::Type(declared), TemplateValue::Type(found)) => {
                        self.matched(declared, false, name, found)
                    }
                    (TemplateArg::Value(expr), value) if is_name(expr, name) => Some(value.clone()),
                    _ => None,
                })
            }
            _ if base != name || !arguments.is_empty() => None,
            // An array argument decays where the parameter is not a reference.
            Ty::Array(inner, _) if !declared.reference => {
                Some(TemplateValue::Type(Ty::Pointer(inner)))
            }
            other => Some(TemplateValue::Type(other)),
        }
    }

    /// Selects the overload whose parameters fit best.
    pub(super) fn choose(
        &mut self,
        candidates: &[Rc<Function>],
        template: &[TemplateArg],
        places: &[Place],
        at: u32,
    ) -> Outcome<Option<(Rc<Function>, Vec<TemplateValue>)>> {
        let mut best: Option<(u32, Rc<Function>, Vec<TemplateValue>)> = None;
        let mut last_fault = None;
        for function in candidates {
            if function.specialises.is_some() {
                continue;
            }
            // The head of a refused function has no parameters.
            if let Some(Err(fault)) = &function.body
                && function.parameters.is_empty()
            {
                last_fault = Some(fault.clone());
                continue;
            }
            let required = function
                .parameters
                .iter()
                .filter(|parameter| parameter.init.is_none())
                .count();
            if places.len() < required || places.len() > function.parameters.len() {
                continue;
            }
            let bound = match self.deduced(function, template, places, at) {
                Ok(bound) => bound,
                Err(fault) => {
                    last_fault = Some(fault);
                    continue;
                }
            };
            let Some(score) = self.score(function, &bound, places) else {
                continue;
            };
            // A definition replaces its declaration.
            let better = best.as_ref().is_none_or(|(known, chosen, _)| {
                score > *known || (score == *known && chosen.body.is_none())
            });
            if better {
                best = Some((score, function.clone(), bound));
            }
        }
        match (best, last_fault) {
            (Some((_, function, bound)), _) => {
                match self.specialisation(candidates, &function, &bound, at)? {
                    Some(special) => Ok(Some((special, Vec::new()))),
                    None => Ok(Some((function, bound))),
                }
            }
            (None, Some(fault)) => Err(fault),
            (None, None) => Ok(None),
        }
    }

    /// Returns the explicit specialisation of a template for arguments, if there is one.
    pub(super) fn specialisation(
        &mut self,
        candidates: &[Rc<Function>],
        function: &Function,
        bound: &[TemplateValue],
        at: u32,
    ) -> Outcome<Option<Rc<Function>>> {
        if bound.is_empty() {
            return Ok(None);
        }
        for special in candidates {
            let Some(arguments) = &special.specialises else {
                continue;
            };
            if special.parameters.len() != function.parameters.len()
                || arguments.len() > function.template.len()
            {
                continue;
            }
            // The arguments that are not written are deduced from equal parameters.
            let written = &function.template[..arguments.len()];
            // Types beyond the subset specialise for no kernel.
            if let Ok(given) = self.bind_template(written, arguments, at)
                && given == bound[..given.len()]
            {
                return Ok(Some(special.clone()));
            }
        }
        Ok(None)
    }

    /// Returns how well arguments fit, or `None` if they do not.
    pub(super) fn score(
        &mut self,
        function: &Rc<Function>,
        bound: &[TemplateValue],
        places: &[Place],
    ) -> Option<u32> {
        let types = self.f.types.clone();
        self.f.scopes.push(std::collections::HashMap::new());
        let mut score = u32::from(function.template.is_empty());
        let mut fits = self.define_template(&function.template, bound).is_ok();
        for (parameter, place) in function.parameters.iter().zip(places) {
            let Ok(ty) = self
                .resolve(&parameter.ty)
                .and_then(|ty| self.array_of(ty, &parameter.lengths, parameter.at))
            else {
                // The fault shows again when the call is lowered.
                continue;
            };
            let found = place_type(place);
            score += match (&ty, &found) {
                (a, b) if a == b => 8,
                (Ty::Pointer(a) | Ty::Array(a, _), Ty::Pointer(b) | Ty::Array(b, _)) if a == b => 8,
                (Ty::Prim(a), Ty::Prim(b)) if super::convert::promoted(*b) == *a => 6,
                (Ty::Prim(a), Ty::Prim(b)) if a.is_integer() == b.is_integer() => 4,
                (Ty::Prim(_), Ty::Prim(_)) => 2,
                (Ty::Pointer(_), Ty::Pointer(_)) => 2,
                _ => {
                    fits = false;
                    0
                }
            };
        }
        self.f.scopes.pop();
        self.f.types = types;
        fits.then_some(score)
    }

    /// Deduces template arguments from the types of a call's arguments.
    pub(super) fn deduced(
        &mut self,
        function: &Rc<Function>,
        template: &[TemplateArg],
        places: &[Place],
        at: u32,
    ) -> Outcome<Vec<TemplateValue>> {
        if function.template.is_empty() {
            return Ok(Vec::new());
        }
        let mut given: Vec<TemplateValue> = Vec::new();
        for (index, parameter) in function.template.iter().enumerate() {
            if let Some(argument) = template.get(index) {
                let bound = self.bind_template(
                    std::slice::from_ref(parameter),
                    std::slice::from_ref(argument),
                    at,
                )?;
                given.extend(bound);
                continue;
            }
            let deduced = function
                .parameters
                .iter()
                .zip(places)
                .find_map(|(declared, place)| {
                    let is_array = !declared.lengths.is_empty();
                    self.matched(&declared.ty, is_array, &parameter.name, &place_type(place))
                });
            match (deduced, &parameter.default) {
                (Some(value), _) if is_kind(&value, parameter) => given.push(value),
                (_, Some(default)) => {
                    let bound = self.bind_template(
                        std::slice::from_ref(parameter),
                        std::slice::from_ref(default),
                        at,
                    )?;
                    given.extend(bound);
                }
                _ => {
                    return fault(
                        at,
                        format!(
                            "the template argument {} of {} is not deduced; write it in <>",
                            parameter.name, function.name
                        ),
                    );
                }
            }
        }
        Ok(given)
    }

    /// Calls the operator that the source defines for operands, if it does.
    pub(super) fn overloaded(
        &mut self,
        sign: &str,
        operands: &[&Value],
        at: u32,
    ) -> Outcome<Option<Value>> {
        if operands
            .iter()
            .all(|value| matches!(value.ty, Ty::Prim(_) | Ty::Pointer(_)))
        {
            return Ok(None);
        }
        let places = operands
            .iter()
            .map(|value| Place::Value((*value).clone()))
            .collect();
        self.operator_call(sign, places, at)
    }

    /// Calls the compound assignment that the source defines, if it does.
    pub(super) fn overloaded_assign(
        &mut self,
        sign: &str,
        place: &Place,
        right: &Value,
        at: u32,
    ) -> Outcome<Option<Value>> {
        if matches!(place_type(place), Ty::Prim(_) | Ty::Pointer(_)) {
            return Ok(None);
        }
        self.operator_call(
            &format!("{sign}="),
            vec![place.clone(), Place::Value(right.clone())],
            at,
        )
    }

    pub(super) fn operator_call(
        &mut self,
        sign: &str,
        places: Vec<Place>,
        at: u32,
    ) -> Outcome<Option<Value>> {
        if let Some(value) = self.member_operator(sign, &places, at)? {
            return Ok(Some(value));
        }
        let name = format!("operator{sign}");
        let candidates: Vec<Rc<Function>> = self
            .program
            .functions
            .iter()
            .filter(|function| *function.name == *name)
            .cloned()
            .collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        match self.choose(&candidates, &[], &places, at) {
            Ok(Some((function, bound))) => {
                self.call_with(&function, bound, places, &[], at).map(Some)
            }
            _ => Ok(None),
        }
    }
}
