#include "nicmon/base/terminal_text.h"

#include <gtest/gtest.h>

namespace nicmon {
namespace {

using Strings = std::vector<std::string>;

TEST(TerminalTextTest, WhatCanBeReadStaysAsItIs) {
  for (const char* text : {"", "bad cable", "Käfig läuft über", "кабель", "電纜壞了", "케이블",
                           "كابل", "e\u0301", "🔥 hot", "a\u200db", "µ±½ – “quoted”"}) {
    EXPECT_EQ(TerminalText(text), text);
  }
}

TEST(TerminalTextTest, WhatSteersOrHidesIsAQuestionMark) {
  for (const char* text :
       {"\x1b",   "\r",     "\n",     "\t",     "\x7f",       "\u009b", "\u2028", "\u2029",
        "\u202a", "\u202e", "\u2066", "\u2069", "\u200e",     "\u200f", "\u061c", "\u200b",
        "\u2060", "\ufeff", "\u00ad", "\ue000", "\U000e0041", "\xff",   "\xc3",   "\xe2\x80"}) {
    const std::string shown = TerminalText("a" + std::string(text) + "b");
    EXPECT_EQ(shown.front(), 'a') << shown;
    EXPECT_EQ(shown.back(), 'b') << shown;
    EXPECT_EQ(shown.find_first_not_of("?", 1), shown.size() - 1) << shown;
    EXPECT_EQ(TerminalWidth("a" + std::string(text) + "b"), shown.size());
  }
}

TEST(TerminalTextTest, WidthIsInColumns) {
  const std::pair<const char*, size_t> cases[] = {
      {"", 0},  {"ab", 2},      {"\u00e4", 1}, {"a\u0308", 1}, {"電纜", 4},
      {"ｱ", 1}, {"Ａ", 2},      {"케이블", 6}, {"🔥", 2},       {"\u1100\u1161\u11a8", 2},
      {"к", 1}, {"\xff\xff", 2}};
  for (const auto& [text, width] : cases) {
    EXPECT_EQ(TerminalWidth(text), width) << text;
  }
}

TEST(TerminalTextTest, AsciiTakesAsManyColumns) {
  EXPECT_EQ(AsciiText("k\u00e4fig\n電 a\u0308\n"), "k?fig\n?? a\n");
  EXPECT_EQ(AsciiText("no end \x1b[31m"), "no end ?[31m");
  EXPECT_EQ(AsciiText(""), "");
}

TEST(TerminalTextTest, ColumnsLineUpWhateverTheyAreWrittenIn) {
  EXPECT_EQ(AlignedTable({Strings{"WHO", "WHY", ""}, {"jürgen", "電纜", "x"}, {"a\u0308", "b"}}),
            "WHO     WHY\n"
            "jürgen  電纜  x\n"
            "a\u0308       b\n");
  EXPECT_EQ(AlignedTable({Strings{"a\x1b[2J", "b"}}), "a?[2J  b\n");
}

}  // namespace
}  // namespace nicmon
