namespace Parcelwright.Customs;

/// <summary>What a parcel from abroad owes.</summary>
public static class Duty
{
    /// <summary>The duty on one parcel, rounded to cents.</summary>
    public static decimal Due(decimal value, decimal percent)
    {
        return decimal.Round(value * percent / 100m, 2);
    }
}
