using Xunit;

namespace Parcelwright.Customs.Documents.Tests;

public class DeclarationTests
{
    [Fact]
    public void ReferencesNameTheCountry()
    {
        Assert.Equal("CH000317", Declaration.Reference("CH", 317));
    }

    [Fact]
    public void LongListsTakeMorePages()
    {
        Assert.Equal(2, Declaration.Pages(8));
    }
}
