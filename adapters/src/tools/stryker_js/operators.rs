//! StrykerJS's mutator names in the words that every tool shares.
//!
//! In: a name. Out: [`OperatorClass`]. I/O: none.

use polymut_schemas::OperatorClass;

/// Names of StrykerJS 8 to 10; one that a plugin adds is `Other`.
pub(super) fn class(name: &str) -> OperatorClass {
    match name {
        "ArithmeticOperator" => OperatorClass::Arithmetic,
        "EqualityOperator" => OperatorClass::Comparison,
        "ConditionalExpression" | "LogicalOperator" => OperatorClass::Logical,
        "AssignmentOperator" | "UpdateOperator" => OperatorClass::Assignment,
        "UnaryOperator" => OperatorClass::Unary,
        "ArrayDeclaration" | "BooleanLiteral" | "ObjectLiteral" | "Regex" | "StringLiteral" => {
            OperatorClass::Literal
        }
        "ArrowFunction" => OperatorClass::ReturnValue,
        "BlockStatement" | "CallExpression" => OperatorClass::Removal,
        "MethodExpression" => OperatorClass::Call,
        _ => OperatorClass::Other,
    }
}
