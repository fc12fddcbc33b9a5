using Xunit;

namespace Parcelwright.Customs.Tests;

public class DutyTests
{
    [Fact]
    public void DutyIsAShareOfTheValue()
    {
        Assert.Equal(24.69m, Duty.Due(205.75m, 12m));
    }
}
