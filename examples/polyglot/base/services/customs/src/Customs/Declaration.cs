namespace Parcelwright.Customs;

/// <summary>The paper that travels with a parcel.</summary>
public static class Declaration
{
    /// <summary>The number under which customs file it.</summary>
    public static string Reference(long number)
    {
        return number.ToString("D6");
    }
}
