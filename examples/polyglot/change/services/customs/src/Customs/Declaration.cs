namespace Parcelwright.Customs;

/// <summary>The paper that travels with a parcel.</summary>
public static class Declaration
{
    private const int LinesPerPage = 6;

    /// <summary>The number under which customs file it: the country, then six digits.</summary>
    public static string Reference(string country, long number)
    {
        return country + number.ToString("D6");
    }

    /// <summary>How many pages a declaration of so many goods has.</summary>
    public static int Pages(long goods)
    {
        var pages = 0;
        for (var left = goods; left > 0; left -= LinesPerPage)
        {
            pages++;
        }

        return pages;
    }
}
