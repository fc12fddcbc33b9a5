//! STUB
pub fn report_schema() -> anyhow::Result<String> {
    todo!()
}
pub fn config_schema() -> anyhow::Result<String> {
    todo!()
}
