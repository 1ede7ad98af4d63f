#include "nicmon/sysfs/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "testing/temp_tree.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FilesTest : public ::testing::Test {
 protected:
  nicmon::testing::TempTree tree_;
  SysfsFiles sysfs_ = RealSysfs(tree_.root());
};

TEST_F(FilesTest, ReadsAFileWhole) {
  tree_.File("class/a", "4: ACTIVE\n");
  const FileRead read = sysfs_.read("class/a");
  EXPECT_EQ(read.error, 0);
  EXPECT_EQ(read.text, "4: ACTIVE\n");
}

TEST_F(FilesTest, KeepsTheErrno) {
  tree_.Directory("dir");
  EXPECT_EQ(sysfs_.read("missing").error, ENOENT);
  EXPECT_EQ(sysfs_.read("dir").error, EINVAL);
  tree_.File("file", "x");
  EXPECT_EQ(sysfs_.read("file/below").error, ENOTDIR);
  tree_.Link("loop", "loop");
  EXPECT_EQ(sysfs_.read("loop").error, ELOOP);
  EXPECT_EQ(sysfs_.read(std::string(5000, 'n')).error, ENAMETOOLONG);
}

TEST_F(FilesTest, AFifoDoesNotBlockAndIsNoFile) {
  ASSERT_EQ(::mkfifo(tree_.Path("fifo").c_str(), 0600), 0);
  const FileRead read = sysfs_.read("fifo");
  EXPECT_EQ(read.error, EINVAL);
  EXPECT_EQ(read.text, "");
}

TEST_F(FilesTest, ADeviceNodeIsNoFile) {
  EXPECT_EQ(RealSysfs("/dev").read("zero").error, EINVAL);
}

TEST_F(FilesTest, AHugeFileIsCutAtFourKibibytes) {
  tree_.File("huge", std::string(1 << 20, '7'));
  const FileRead read = sysfs_.read("huge");
  EXPECT_EQ(read.error, 0);
  EXPECT_EQ(read.text, std::string(4096, '7'));
}

TEST_F(FilesTest, BytesComeThroughAsTheyAre) {
  const std::string bytes("\xff\0\x80 ok", 6);
  tree_.File("bytes", bytes);
  EXPECT_EQ(sysfs_.read("bytes").text, bytes);
}

TEST_F(FilesTest, NamesThatClimbAreRefused) {
  tree_.File("a/file", "x");
  EXPECT_EQ(sysfs_.read("a/../a/file").error, EINVAL);
  EXPECT_EQ(sysfs_.read("..").error, EINVAL);
  EXPECT_EQ(sysfs_.read(std::string("a/file\0x", 8)).error, EINVAL);
  EXPECT_THAT(sysfs_.list("a/.."), IsEmpty());
  EXPECT_EQ(sysfs_.resolve("a/.."), std::nullopt);
  EXPECT_EQ(sysfs_.inode("a/.."), std::nullopt);
  tree_.File("..a", "dots in a name are fine");
  EXPECT_EQ(sysfs_.read("..a").error, 0);
}

TEST_F(FilesTest, ListIsSortedAndEmptyWhereThereIsNoDirectory) {
  tree_.File("d/b", "");
  tree_.File("d/a", "");
  tree_.Directory("d/c");
  EXPECT_THAT(sysfs_.list("d"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(sysfs_.list("missing"), IsEmpty());
  EXPECT_THAT(sysfs_.list("d/a"), IsEmpty());
  ASSERT_EQ(::mkfifo(tree_.Path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(sysfs_.list("fifo"), IsEmpty());
}

TEST_F(FilesTest, ResolveFollowsTheKernelsRelativeLinks) {
  tree_.Directory("devices/pci0000:3a/0000:3b:00.0/infiniband/x");
  tree_.Link("devices/pci0000:3a/0000:3b:00.0/infiniband/x/device", "../../../0000:3b:00.0");
  tree_.Link("class/infiniband/x", "../../devices/pci0000:3a/0000:3b:00.0/infiniband/x");
  EXPECT_EQ(sysfs_.resolve("class/infiniband/x/device"), "devices/pci0000:3a/0000:3b:00.0");
  EXPECT_EQ(sysfs_.resolve("class"), "class");
  EXPECT_EQ(sysfs_.resolve(""), "");
}

TEST_F(FilesTest, ResolveStaysInside) {
  const nicmon::testing::TempTree other;
  tree_.Link("absolute", "/usr");
  tree_.Link("relative", "../..");
  tree_.Link("neighbour", other.root());
  tree_.Link("loop", "loop");
  tree_.Link("dangling", "nowhere");
  tree_.File("file", "");
  for (const char* path :
       {"absolute", "relative", "neighbour", "loop", "dangling", "file", "missing"}) {
    EXPECT_EQ(sysfs_.resolve(path), std::nullopt) << path;
  }
}

TEST_F(FilesTest, ARootWhoseNameBeginsAnotherIsStillARoot) {
  tree_.Directory("sys");
  tree_.Directory("system/x");
  tree_.Link("sys/out", "../system/x");
  EXPECT_EQ(RealSysfs(tree_.root() + "/sys").resolve("out"), std::nullopt);
}

TEST_F(FilesTest, TheRootMayBeALinkAndEndInASlash) {
  tree_.Directory("real/devices/d");
  tree_.Link("real/class", "devices/d");
  tree_.Link("link", "real");
  EXPECT_EQ(RealSysfs(tree_.root() + "/link").resolve("class"), "devices/d");
  EXPECT_EQ(RealSysfs(tree_.root() + "/link//").resolve("class"), "devices/d");
  EXPECT_NE(RealSysfs("/").resolve("usr"), std::nullopt);
}

TEST_F(FilesTest, InodeTellsAThingFromItsSuccessor) {
  tree_.Directory("devices/one");
  tree_.Directory("devices/two");
  tree_.Link("class/uverbs0", "../devices/one");
  const auto before = sysfs_.inode("class/uverbs0");
  ASSERT_TRUE(before);
  EXPECT_EQ(sysfs_.inode("class/uverbs0"), before);
  tree_.Link("class/uverbs0", "../devices/two");
  const auto after = sysfs_.inode("class/uverbs0");
  ASSERT_TRUE(after);
  EXPECT_NE(after, before);
  EXPECT_EQ(sysfs_.inode("class/uverbs1"), std::nullopt);
}

}  // namespace
}  // namespace nicmon
