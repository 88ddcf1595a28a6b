import java.time.*;
import java.util.*;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes the tables in ../testdata that need Spark 4.2's jars on the class path: java -cp 'JARS/*' SparkGolden.java TABLE > ../testdata/TABLE.txt */
public class SparkGolden {
  public static void main(String[] args) {
    switch (args[0]) {
      case "datetime": datetimes(Integer.parseInt(args.length > 1 ? args[1] : "1500"), args.length > 2 ? Integer.parseInt(args[2]) : 19); break;
    }
  }

  static String quote(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < ' ' || c == 0x7f) b.append(String.format("\\x%02x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }

  static String mutate(Random r, String s, String alphabet) {
    StringBuilder b = new StringBuilder(s);
    for (int n = r.nextInt(3); n > 0; n--) {
      int i = b.length() == 0 ? 0 : r.nextInt(b.length());
      char c = alphabet.charAt(r.nextInt(alphabet.length()));
      switch (r.nextInt(3)) {
        case 0: b.insert(i, c); break;
        case 1: if (b.length() > 0) b.deleteCharAt(i); break;
        default: if (b.length() > 0) b.setCharAt(i, c);
      }
    }
    return b.toString();
  }

  static String show(Object o) {
    scala.Option<?> x = (scala.Option<?>) o;
    return x.isEmpty() ? "-" : x.get().toString();
  }

  // text \t zone \t date \t timestamp \t timestamp_ntz \t time, "-" where it is none
  static void datetimes(int n, int seed) {
    Random r = new Random(seed);
    String[] seeds = {"2026-03-01", "2026-3-1", "2026", "2026-03", "2026-03-01 10:11:12", "2026-03-01T10:11:12.123456789Z", "2026-03-01 10:11:12.5+02:00",
      "2026-03-08 02:30:00 America/New_York", "10:11:12", "T10:11", "10:11:12.5 PM", "9:05am", "-290308-12-21 19:59:05.224192", "294247-01-10 04:00:54.775807",
      "+10000-01-01 00:00:00", "-0001-12-31", "5881580-07-11", "-5877641-06-23", "2026-03-01 10:11 GMT+2", "2026-03-01 10:11:12.1 UTC-03:30", "  2026-12-31 23:59:59.999999  ",
      "2026-03-01 10", "0000-01-01 00:00", "2024-02-29T23:59:59+0530", "2026-03-01 1:2:3.4-2", "2026-10-25 02:30:00 Europe/Berlin", "2026-03-01Thello", "1883-11-18 12:00:00",
      "2026-03-01 10:11:12 PST", "2026-03-01 10:11:12+1:30", "12:00 AM", "12:59:59.999999pm", "2026-03-01 10:11:12.1234567 +02:00:30"};
    String[] zones = {"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "+05:30", "America/Sao_Paulo", "Africa/Casablanca"};
    for (int i = 0; i < n; i++) {
      String s = i < seeds.length ? seeds[i] : mutate(r, seeds[r.nextInt(seeds.length)], "0123456789-+:. TZApPm/_\tU");
      String z = zones[r.nextInt(zones.length)];
      UTF8String u = UTF8String.fromString(s);
      // Times alone are of today, so that their timestamps cannot stand in a table.
      String ts = show(DateTimeUtils.stringToTimestamp(u, ZoneId.of(z)));
      if (s.trim().matches("(T.*|\\d+:.*)") && !ts.equals("-")) ts = "today";
      System.out.println(quote(s) + "\t" + z + "\t" + show(DateTimeUtils.stringToDate(u)) + "\t" + ts + "\t"
          + show(DateTimeUtils.stringToTimestampWithoutTimeZone(u)) + "\t" + show(DateTimeUtils.stringToTime(u)));
    }
  }
}
