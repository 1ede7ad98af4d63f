#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "nicmon/sysfs/files.h"
#include "testing/temp_tree.h"

// Files that are read again and again.
namespace nicmon {
namespace {

size_t OpenFiles() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += entry.is_symlink() ? 1 : 0;
  }
  return count;
}

/// Another soft limit of open files for a while.
class FileLimit {
 public:
  explicit FileLimit(rlim_t soft) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit = {soft, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

class KeptFileTest : public ::testing::Test {
 protected:
  nicmon::testing::TempTree tree_;
  SysfsFiles sysfs_ = RealSysfs(tree_.root());
};

TEST_F(KeptFileTest, ReadsAnewEachTimeThroughOneDescriptor) {
  tree_.File("a/counter", "1\n");
  const size_t before = OpenFiles();
  {
    const auto read = sysfs_.keep("a/counter");
    EXPECT_EQ(OpenFiles(), before) << "opened by the first read";
    EXPECT_EQ(read().text, "1\n");
    EXPECT_EQ(OpenFiles(), before + 1);
    tree_.File("a/counter", "22\n");
    EXPECT_EQ(read().text, "22\n");
    tree_.File("a/counter", "3\n");
    EXPECT_EQ(read().text, "3\n");
    EXPECT_EQ(OpenFiles(), before + 1);
  }
  EXPECT_EQ(OpenFiles(), before);
}

TEST_F(KeptFileTest, AReplacedFileIsOpenedAnew) {
  tree_.File("counter", "1\n");
  const auto read = sysfs_.keep("counter");
  EXPECT_EQ(read().text, "1\n");
  tree_.File("other", "2\n");
  std::filesystem::rename(tree_.Path("other"), tree_.Path("counter"));
  EXPECT_EQ(read().text, "2\n");
}

TEST_F(KeptFileTest, AFileMayGoAndComeBack) {
  const auto read = sysfs_.keep("counter");
  EXPECT_EQ(read().error, ENOENT);
  tree_.File("counter", "1\n");
  EXPECT_EQ(read().text, "1\n");
  tree_.Remove("counter");
  EXPECT_EQ(read().error, ENOENT);
  EXPECT_EQ(read().error, ENOENT);
  ASSERT_EQ(::mkfifo(tree_.Path("counter").c_str(), 0600), 0);
  EXPECT_EQ(read().error, EINVAL);
  tree_.Remove("counter");
  tree_.File("counter", "3\n");
  EXPECT_EQ(read().text, "3\n");
}

TEST_F(KeptFileTest, AnErrorOfTheReadIsGivenAndTheFileStaysReadable) {
  // Reading at address 0 of a process that is us: EIO, by a regular file.
  const auto read = RealSysfs("/proc/self").keep("mem");
  EXPECT_EQ(read().error, EIO);
  EXPECT_EQ(read().error, EIO);
}

TEST_F(KeptFileTest, ATooLongFileIsCut) {
  tree_.File("huge", std::string(1 << 20, '7'));
  EXPECT_EQ(sysfs_.keep("huge")().text, std::string(256, '7'));
}

TEST_F(KeptFileTest, APathThatClimbsIsRefused) {
  tree_.File("a/file", "x");
  EXPECT_EQ(sysfs_.keep("a/../a/file")().error, EINVAL);
}

TEST_F(KeptFileTest, DescriptorsAreKeptUpToHalfOfTheLimitAndTheRestIsReadAllTheSame) {
  constexpr int kFiles = 100;
  const FileLimit limit(80);
  const size_t before = OpenFiles();
  std::vector<std::function<FileRead()>> files;
  for (int i = 0; i < kFiles; ++i) {
    tree_.File("c" + std::to_string(i), std::to_string(i) + "\n");
    files.push_back(sysfs_.keep("c" + std::to_string(i)));
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kFiles; ++i) {
      const FileRead file = files[i]();
      ASSERT_EQ(file.error, 0) << i;
      ASSERT_EQ(file.text, std::to_string(i) + "\n");
    }
    EXPECT_EQ(OpenFiles(), before + 40);
  }
  files.erase(files.begin(), files.begin() + 10);
  files.back()();
  EXPECT_EQ(OpenFiles(), before + 31) << "what one gives up another may have";
  files.clear();
  EXPECT_EQ(OpenFiles(), before);
}

}  // namespace
}  // namespace nicmon
