// NAME: a guest of wstream. keep is a filter: it says of each row whether it stays.
module("NAME", "0.1.0");
add("keep", "filter", "amount DOUBLE", "", filterRows((row) => row.amount > 0));
