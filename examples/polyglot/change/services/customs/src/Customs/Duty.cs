namespace Parcelwright.Customs;

/// <summary>What a parcel from abroad owes.</summary>
public static class Duty
{
    /// <summary>Commercial parcels of up to this value are free.</summary>
    public const decimal Allowance = 150m;

    /// <summary>Gifts of up to this value are free.</summary>
    public const decimal GiftAllowance = 45m;

    /// <summary>The duty on one parcel, rounded to cents.</summary>
    public static decimal Due(decimal value, decimal percent, bool gift)
    {
        if (gift)
        {
            return value <= GiftAllowance ? 0m : Rate(value, percent);
        }

        return value <= Allowance ? 0m : Rate(value, percent);
    }

    private static decimal Rate(decimal value, decimal percent)
    {
        return decimal.Round(value * percent / 100m, 2);
    }
}
