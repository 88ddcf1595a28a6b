import java.time.DayOfWeek;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.TemporalQueries;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneOffsetTransitionRule;
import java.time.zone.ZoneRules;
import java.util.*;
import sun.util.locale.provider.TimeZoneNameUtility;

/**
 * Writes zones.txt and zonenames.txt, the tables of package javatext, out of a JDK 17.
 *
 * javac --add-exports java.base/sun.util.locale.provider=ALL-UNNAMED -d /tmp Zones.java
 * java --add-exports java.base/sun.util.locale.provider=ALL-UNNAMED -cp /tmp Zones rules > ../zones.txt
 * java --add-exports java.base/sun.util.locale.provider=ALL-UNNAMED -cp /tmp Zones names > ../zonenames.txt
 */
public class Zones {
  public static void main(String[] args) {
    if (args[0].equals("rules")) rules(); else names();
  }

  static SortedSet<String> ids() {
    SortedSet<String> ids = new TreeSet<>(ZoneId.getAvailableZoneIds());
    return ids;
  }

  // ID,ALIAS…|offset[!] …|letter+delta …|rule …     (! = daylight saving; delta in base 36 seconds)
  static void rules() {
    Map<String, List<String>> byRules = new LinkedHashMap<>();
    for (String id : ids()) {
      byRules.computeIfAbsent(describe(ZoneId.of(id).getRules()), k -> new ArrayList<>()).add(id);
    }
    byRules.forEach((k, v) -> System.out.println(String.join(",", v) + "|" + k));
  }

  static String describe(ZoneRules r) {
    List<String> types = new ArrayList<>();
    StringBuilder trans = new StringBuilder();
    Instant t = Instant.ofEpochSecond(-99999999999L);
    type(types, r, t);
    long last = 0;
    List<ZoneOffsetTransition> all = new ArrayList<>(r.getTransitions());
    // A change of the daylight-saving flag alone is not among the transitions; look for those between them, and
    // between the last one and the first year of the rules.
    TreeMap<Long, Instant> moments = new TreeMap<>();
    for (ZoneOffsetTransition x : all) moments.put(x.toEpochSecond(), x.getInstant());
    Long prev = null;
    for (Long m : new ArrayList<>(moments.keySet())) {
      if (prev != null) split(r, prev, m - 1, moments);
      prev = m;
    }
    if (prev != null && r.getTransitionRules().isEmpty()) split(r, prev, 4102444800L, moments);
    for (Instant m : moments.values()) {
      int i = type(types, r, m);
      trans.append(trans.length() == 0 ? "" : " ").append((char) ('A' + i)).append(Long.toString(m.getEpochSecond() - last, 36));
      last = m.getEpochSecond();
    }
    StringBuilder rules = new StringBuilder();
    for (ZoneOffsetTransitionRule x : r.getTransitionRules()) {
      DayOfWeek d = x.getDayOfWeek();
      int at = x.isMidnightEndOfDay() ? 86400 : x.getLocalTime().toSecondOfDay();
      rules.append(rules.length() == 0 ? "" : " ").append(x.getMonth().getValue()).append(',').append(x.getDayOfMonthIndicator()).append(',')
          .append(d == null ? 0 : d.getValue()).append(',').append(at).append(',').append(x.getTimeDefinition().name().charAt(0)).append(',')
          .append(x.getStandardOffset().getTotalSeconds()).append(',').append(x.getOffsetBefore().getTotalSeconds()).append(',')
          .append(x.getOffsetAfter().getTotalSeconds());
    }
    return String.join(" ", types) + "|" + trans + "|" + rules;
  }

  static void split(ZoneRules r, long from, long to, TreeMap<Long, Instant> moments) {
    boolean flag = r.isDaylightSavings(Instant.ofEpochSecond(from));
    for (long t = from; t < to; t += 86400) {
      long next = Math.min(t + 86400, to);
      if (r.isDaylightSavings(Instant.ofEpochSecond(next)) == flag) continue;
      long lo = t, hi = next;
      while (hi - lo > 1) {
        long mid = lo + (hi - lo) / 2;
        if (r.isDaylightSavings(Instant.ofEpochSecond(mid)) == flag) lo = mid; else hi = mid;
      }
      flag = !flag;
      moments.put(hi, Instant.ofEpochSecond(hi));
    }
  }

  static int type(List<String> types, ZoneRules r, Instant t) {
    String s = r.getOffset(t).getTotalSeconds() + (r.isDaylightSavings(t) ? "!" : "");
    int i = types.indexOf(s);
    if (i < 0) { types.add(s); i = types.size() - 1; }
    return i;
  }

  // Names as printed:  ID,…|long standard|short standard|long daylight|short daylight|long generic|short generic
  // Names as read:     z NAME=ID   and   zzzz NAME=ID
  static void names() {
    Map<String, List<String>> byNames = new LinkedHashMap<>();
    SortedSet<String> all = new TreeSet<>();
    for (String id : ids()) {
      String[] n = TimeZoneNameUtility.retrieveDisplayNames(id, Locale.US);
      if (n == null) continue;
      byNames.computeIfAbsent(String.join("|", Arrays.asList(n).subList(1, 7)), k -> new ArrayList<>()).add(id);
      all.addAll(Arrays.asList(n).subList(1, 7));
    }
    byNames.forEach((k, v) -> System.out.println(String.join(",", v) + "|" + k));
    for (String pattern : new String[] {"z", "zzzz"}) {
      DateTimeFormatter f = new DateTimeFormatterBuilder().parseCaseInsensitive().appendPattern(pattern).toFormatter(Locale.US);
      for (String n : all) {
        try {
          System.out.println(pattern + " " + n + "=" + f.parse(n).query(TemporalQueries.zone()).getId());
        } catch (RuntimeException e) {
          // not a name that this style reads
        }
      }
    }
  }
}
