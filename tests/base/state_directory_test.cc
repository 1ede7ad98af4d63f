#include "nicmon/base/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "testing/temp_tree.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempTree;

constexpr size_t kLimit = 1000;

TEST(StateDirectoryTest, IsMadeWithItsParentsAndClosedToOthers) {
  const TempTree tree;
  const std::string path = tree.Path("a/b/state").string();
  const StateDirectory directory(path);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0750U);
  EXPECT_EQ(directory.Read("x", kLimit).error, ENOENT);
  EXPECT_EQ(directory.Replace("x", "one"), 0);
  EXPECT_EQ(directory.Replace("x", "two"), 0);
  EXPECT_EQ(directory.Read("x", kLimit).text, "two");
  ASSERT_EQ(::stat((path + "/x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
  EXPECT_THAT(directory.List("x"), ElementsAre("x")) << "no temporary is left";
}

TEST(StateDirectoryTest, WhatIsNotWantedAnyMoreIsNotPutInPlace) {
  const TempTree tree;
  const StateDirectory directory(tree.root());
  ASSERT_EQ(directory.Replace("x", "one", [] { return true; }), 0);
  EXPECT_EQ(directory.Replace("x", "two", [] { return false; }), ECANCELED);
  EXPECT_EQ(directory.Read("x", kLimit).text, "one");
  EXPECT_THAT(directory.List("x"), ElementsAre("x"));
}

TEST(StateDirectoryTest, BelongsToOneProcess) {
  const TempTree tree;
  auto first = std::make_unique<StateDirectory>(tree.root());
  try {
    const StateDirectory second(tree.root());
    FAIL() << "not refused";
  } catch (const UnusableDirectory&) {
    FAIL() << "it would be done without";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another nicmon uses the state directory " + tree.root()));
  }
  first.reset();
  const StateDirectory third(tree.root());
}

TEST(StateDirectoryTest, SomethingElseInItsPlaceIsAnError) {
  const TempTree tree;
  tree.File("file", "");
  EXPECT_THROW(StateDirectory(tree.Path("file").string()), UnusableDirectory);
  EXPECT_THROW(StateDirectory(tree.Path("file/below").string()), UnusableDirectory);
  EXPECT_THROW(StateDirectory("/proc/nicmon"), UnusableDirectory);
}

TEST(StateDirectoryTest, ReadsOnlyWhatIsAFileOfReasonableSize) {
  const TempTree tree;
  const StateDirectory directory(tree.root());
  tree.File("large", std::string(kLimit + 1, 'x'));
  tree.File("fits", std::string(kLimit, 'x'));
  tree.Directory("folder");
  ASSERT_EQ(::mkfifo(tree.Path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(directory.Read("large", kLimit).error, EFBIG);
  EXPECT_EQ(directory.Read("fits", kLimit).text.size(), kLimit);
  EXPECT_EQ(directory.Read("folder", kLimit).error, EISDIR);
  EXPECT_EQ(directory.Read("fifo", kLimit).text, "") << "nobody waits for a writer";
}

TEST(StateDirectoryTest, AFailedReplacementLeavesTheOldContent) {
  const TempTree tree;
  const StateDirectory directory(tree.root());
  ASSERT_EQ(directory.Replace("x", "old"), 0);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{100, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(directory.Replace("x", std::string(101, 'n')), EFBIG);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(directory.Read("x", kLimit).text, "old");
  EXPECT_THAT(directory.List("x"), ElementsAre("x")) << "the half of a file is gone";
  std::filesystem::remove_all(tree.root());
  EXPECT_EQ(directory.Replace("x", "new"), ENOENT);
}

TEST(StateDirectoryTest, AKeptFileOutlivesItsReplacement) {
  const TempTree tree;
  const StateDirectory directory(tree.root());
  ASSERT_EQ(directory.Replace("x", "broken"), 0);
  EXPECT_GT(directory.ChangedAt("x"), 1'600'000'000);
  EXPECT_EQ(directory.KeepAs("x", "x.kept"), 0);
  ASSERT_EQ(directory.Replace("x", "new"), 0);
  EXPECT_EQ(directory.KeepAs("x", "x.kept"), 0) << "kept already";
  EXPECT_EQ(directory.Read("x.kept", kLimit).text, "broken");
  EXPECT_EQ(directory.KeepAs("y", "y.kept"), ENOENT);
  EXPECT_THAT(directory.List("x."), ElementsAre("x.kept"));
}

}  // namespace
}  // namespace nicmon
