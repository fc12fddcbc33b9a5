module parcelwright.example/dispatch

go 1.22
