import java.time.*;
import java.util.*;

/** Writes the tables in ../testdata that need nothing but a JDK 17: java Golden.java TABLE > ../testdata/TABLE.txt */
public class Golden {
  public static void main(String[] args) {
    switch (args[0]) {
      case "double": doubles(); break;
      case "zone": zones(); break;
    }
  }

  // bits of a double, Double.toString, bits of a float, Float.toString
  static void doubles() {
    Random r = new Random(17);
    double[] fixed = {0.0, -0.0, 1, 2.0E-3, 4.9E-324, 1e23, 9.999999999999999E22, 2.2250738585072014E-308, 2.2250738585072011E-308,
      1.7976931348623157E308, 1e7, 9999999.999999998, 1e-3, 0.00099999, 100, 123456789012345680.0, 0.1 + 0.2, 2e-44, 1.0 / 3,
      Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 9007199254740992.0, 9007199254740993.0, 9.2233720368547758E18};
    float[] fixedF = {0f, -0f, 1f, 1.1f, 16777216f, 1e10f, 1f / 3, 1.17549435E-38f, 1.4E-45f, 3.4028235E38f, 33554432f, 8.5899346E9f,
      Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 9223372036854775807f, -2147483648f};
    for (int i = 0; i < 600; i++) {
      double d;
      switch (i % 8) {
        case 0: d = Double.longBitsToDouble(r.nextLong()); break;
        case 1: d = r.nextInt(100000) / 1000.0; break;
        case 2: d = Math.scalb(1.0, r.nextInt(2098) - 1074); break;
        case 3: d = (double) (r.nextLong() >>> r.nextInt(60)); break;
        case 4: d = r.nextLong() * Math.pow(10, r.nextInt(40) - 20); break;
        case 5: d = Double.longBitsToDouble(r.nextLong() >>> (12 + r.nextInt(52))); break;
        case 6: d = r.nextInt(1000) * Math.pow(10, r.nextInt(600) - 300); break;
        default: d = Double.longBitsToDouble(Double.doubleToLongBits(Math.pow(10, r.nextInt(60) - 30)) + r.nextInt(5) - 2);
      }
      float f;
      switch (i % 5) {
        case 0: f = Float.intBitsToFloat(r.nextInt()); break;
        case 1: f = (float) d; break;
        case 2: f = r.nextInt(); break;
        case 3: f = r.nextLong(); break;
        default: f = Math.scalb(1.0f, r.nextInt(276) - 149);
      }
      if (i < fixed.length) d = fixed[i];
      if (i < fixedF.length) f = fixedF[i];
      System.out.println(Long.toHexString(Double.doubleToRawLongBits(d)) + " " + d + " " + Integer.toHexString(Float.floatToRawIntBits(f)) + " " + f);
    }
  }

  // zone, seconds since the epoch, offset, daylight saving, the same seconds as a wall clock, its moment
  static void zones() {
    Random r = new Random(18);
    List<String> ids = new ArrayList<>(new TreeSet<>(ZoneId.getAvailableZoneIds()));
    ids.addAll(Arrays.asList("+05:30", "-18:00", "GMT+8", "UTC-03:30", "UT+1", "Z", "GMT0", "GMT", "UTC", "UT"));
    for (String id : ids) {
      ZoneId z = ZoneId.of(id);
      List<java.time.zone.ZoneOffsetTransition> t = z.getRules().getTransitions();
      for (int i = 0; i < 5; i++) {
        long s;
        if (i < 2 && !t.isEmpty()) s = t.get(r.nextInt(t.size())).toEpochSecond() + r.nextInt(15000) - 7500;
        else if (i == 2 && !z.getRules().getTransitionRules().isEmpty())
          s = z.getRules().getTransitionRules().get(r.nextInt(2)).createTransition(2020 + r.nextInt(400)).toEpochSecond() + r.nextInt(15000) - 7500;
        else s = (long) ((r.nextDouble() - 0.3) * 6e9);
        Instant n = Instant.ofEpochSecond(s);
        LocalDateTime l = LocalDateTime.ofEpochSecond(s, 0, ZoneOffset.UTC);
        System.out.println(id + " " + s + " " + z.getRules().getOffset(n).getTotalSeconds() + " " + z.getRules().isDaylightSavings(n) + " "
            + l.atZone(z).toEpochSecond());
      }
    }
  }
}
