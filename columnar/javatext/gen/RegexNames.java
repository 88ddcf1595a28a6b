import java.util.*;

/** Writes regexnames.txt, the names of Unicode blocks and the short names of scripts that java.util.regex takes: java --add-opens java.base/java.lang=ALL-UNNAMED RegexNames.java > ../regexnames.txt */
public class RegexNames {
  public static void main(String[] args) throws Exception {
    Character.UnicodeBlock last = null;
    int start = 0;
    Map<Character.UnicodeBlock, String> ranges = new LinkedHashMap<>();
    for (int c = 0; c <= 0x110000; c++) {
      Character.UnicodeBlock b = c == 0x110000 ? null : Character.UnicodeBlock.of(c);
      if (b != last) {
        if (last != null) ranges.merge(last, Integer.toHexString(start) + " " + Integer.toHexString(c - 1), (x, y) -> x + " " + y);
        start = c;
        last = b;
      }
    }
    java.lang.reflect.Field f = Character.UnicodeBlock.class.getDeclaredField("map");
    f.setAccessible(true);
    Map<String, Character.UnicodeBlock> map = (Map<String, Character.UnicodeBlock>) f.get(null);
    Map<Character.UnicodeBlock, TreeSet<String>> names = new HashMap<>();
    map.forEach((n, b) -> names.computeIfAbsent(b, k -> new TreeSet<>()).add(n));
    ranges.forEach((b, r) -> System.out.println("block " + r + "|" + String.join("|", names.get(b))));
    f = Character.UnicodeScript.class.getDeclaredField("aliases");
    f.setAccessible(true);
    Map<String, Character.UnicodeScript> aliases = new TreeMap<>((Map<String, Character.UnicodeScript>) f.get(null));
    aliases.forEach((n, s) -> System.out.println("script " + n + " " + s));
  }
}
