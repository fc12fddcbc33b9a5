module parcelwright.example/tracking

go 1.22
