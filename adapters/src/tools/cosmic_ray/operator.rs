//! Classes of cosmic-ray's operators.
//!
//! In: an operator's name. Out: [`OperatorClass`]. I/O: none.

use polymut_schemas::OperatorClass;

/// The class of `core/ReplaceBinaryOperator_Add_Sub` and the like; operators of plugins have none of ours.
pub(super) fn class(name: &str) -> OperatorClass {
    let name = name.strip_prefix("core/").unwrap_or(name);
    let bitwise = |part: &str| matches!(part, "RShift" | "LShift" | "BitOr" | "BitAnd" | "BitXor");
    match name.split('_').next().unwrap_or(name) {
        "ReplaceBinaryOperator" if name.split('_').skip(1).all(bitwise) => OperatorClass::Bitwise,
        "ReplaceBinaryOperator" => OperatorClass::Arithmetic,
        "ReplaceComparisonOperator" => OperatorClass::Comparison,
        "ReplaceUnaryOperator" => OperatorClass::Unary,
        "AddNot" | "ReplaceAndWithOr" | "ReplaceOrWithAnd" => OperatorClass::Logical,
        "NumberReplacer" | "ReplaceTrueWithFalse" | "ReplaceFalseWithTrue" => OperatorClass::Literal,
        "ReplaceBreakWithContinue" | "ReplaceContinueWithBreak" | "ZeroIterationForLoop" => {
            OperatorClass::ControlFlow
        }
        "RemoveDecorator" => OperatorClass::Removal,
        _ => OperatorClass::Other,
    }
}
