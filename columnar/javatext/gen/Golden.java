import java.time.*;
import java.util.*;

/** Writes the tables in ../testdata that need nothing but a JDK 17: java Golden.java TABLE > ../testdata/TABLE.txt */
public class Golden {
  public static void main(String[] args) {
    switch (args[0]) {
      case "double": doubles(); break;
      case "zone": zones(); break;
      case "regex": regexes(Integer.parseInt(args.length > 1 ? args[1] : "2500"), args.length > 2 ? Integer.parseInt(args[2]) : 23); break;
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

  static String quote(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0xa0) b.append(String.format("\\u%04x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }

  static final String[] ATOMS = {"a", "b", "c", "A", "é", "É", "ß", " ", "#", ".", "\\d", "\\w", "\\s", "\\S", "\\W", "\\D", "\\h", "\\v", "\\R", "[a-c]", "[^a]", "[a-z&&[^b]]", "[abc&&[bcd]]", "[^a-b&&[a-z]]",
    "[a[bc]]", "[]a]", "[a-]", "[\\w&&[^\\d]]", "[^\\W_]", "[&&a]", "[a&&]", "[a&b]", "\\p{Alpha}", "\\p{L}", "\\P{Lu}", "\\p{IsLatin}", "\\p{InGreek}", "\\p{Punct}", "\\p{javaLowerCase}", "\\p{Upper}", "\\pL", "\\x41", "\\u0061", "\\t", "\\.",
    "\\Qa.b\\E", "\\Q1\\E", "^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z", "\\G", "\\1", "\\2", "\\k<n>", "ab", "abc", "\\n", "\r", "\n", "1", "_", "-", "]", "}", "&", "(?i)", "(?s)", "(?m)", "(?x)", "(?u)", "(?iu)", "(?d)", "(?-i)", "(?U)", "\\p{Lower}", "{", "*", "\\y", "[b-a]", "[", ")", "\\0101", "\\cA", "\\e", "σ", "ς", "Σ", "ſ", "k", "\u212a", "[[:alpha:]]", "\\p{IsAlphabetic}", "\\p{sc=Greek}", "\\p{gc=Lu}", "[^]", "[a", "\\p{Foo}"};
  static final String[] QUANTIFIERS = {"", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{2,}", "{0,2}?", "{1,3}+", "{0}", "{2,1}", "{,2}", "{2"};
  static final String[] TEXTS = {"a", "b", "c", "ab", "abc", "A", "B", "é", "É", "ß", " ", "\t", "\n", "\r\n", "\r", "\u0085", "\u2028", "1", "12", "_", "-", ".", "a.b", "#", "]", "}", "&", "σ", "Σ", "ς", "s", "ſ", "k", "\u212a", "K", "\u00a0", "e\u0301", "日本", "*", "{"};

  static String regex(Random r, int depth) {
    StringBuilder b = new StringBuilder();
    int n = 1 + r.nextInt(4);
    for (int i = 0; i < n; i++) {
      String a;
      int k = r.nextInt(12);
      if (depth > 0 && k < 3) a = "(" + regex(r, depth - 1) + ")";
      else if (depth > 0 && k == 3) a = new String[] {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?<n>", "(?s-i:"}[r.nextInt(9)] + regex(r, depth - 1) + ")";
      else if (depth > 0 && k == 4) a = "(?:" + regex(r, depth - 1) + "|" + regex(r, depth - 1) + ")";
      else a = r.nextInt(3) == 0 ? ATOMS[r.nextInt(ATOMS.length)] : ATOMS[r.nextInt(20)];
      b.append(a).append(QUANTIFIERS[r.nextInt(r.nextInt(6) == 0 ? QUANTIFIERS.length : 14)]);
    }
    if (r.nextInt(8) == 0) b.append("|").append(ATOMS[r.nextInt(20)]);
    return b.toString();
  }

  // "regex" \t "text" \t "error", or the matches, each as start:end of its groups in characters, - where it took no part
  static void regexes(int n, int seed) {
    Random r = new Random(seed);
    for (int i = 0; i < n; i++) {
      String p = regex(r, r.nextInt(4));
      StringBuilder t = new StringBuilder();
      for (int k = r.nextInt(8); k >= 0; k--) t.append(TEXTS[r.nextInt(r.nextInt(3) == 0 ? TEXTS.length : 14)]);
      StringBuilder out = new StringBuilder();
      try {
        java.util.regex.Matcher m = java.util.regex.Pattern.compile(p).matcher(t);
        while (m.find()) {
          if (out.length() > 0) out.append(';');
          for (int g = 0; g <= m.groupCount(); g++) out.append(g > 0 ? "," : "").append(m.start(g) < 0 ? "-" : m.start(g) + ":" + m.end(g));
        }
      } catch (java.util.regex.PatternSyntaxException e) {
        out.append("error");
      } catch (Throwable e) {
        continue;
      }
      System.out.println(quote(p) + "\t" + quote(t.toString()) + "\t" + out);
    }
  }
}
