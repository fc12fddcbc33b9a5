using Xunit;

namespace Parcelwright.Customs.Documents.Tests;

public class DeclarationTests
{
    [Fact]
    public void ReferencesHaveSixDigits()
    {
        Assert.Equal("000317", Declaration.Reference(317));
    }
}
