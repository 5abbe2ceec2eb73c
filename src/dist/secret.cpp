#include "dist/secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLeastCharacters = 16, kMostCharacters = 4096;

fs::path secret_file() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder == '/') {
    return fs::path(folder) / "edelta" / "secret";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') {
    throw InputError(
        "the ranks need a secret in common: set EDELTA_SECRET, or HOME to where it is kept");
  }
  return fs::path(home) / ".config" / "edelta" / "secret";
}

// Made under another name and linked, so that of several ranks that find none one makes it, and the
// others never see a part.
void make_secret(const fs::path& file) {
  base::make_folder(file.parent_path());
  const fs::path own =
      fmt::format("{}.{}.{}", file.string(), ::getpid(), hexadecimal(random_bytes()).substr(0, 8));
  const int descriptor = ::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::string text = hexadecimal(random_bytes()) + "\n";
  const bool written =
      descriptor >= 0 &&
      ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(descriptor) == 0;
  int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  bool linked = false;
  if (written) {
    linked = ::link(own.c_str(), file.c_str()) == 0 || errno == EEXIST;
    error = errno;
  }
  ::unlink(own.c_str());
  if (!linked) throw Failure(fmt::format("{}: {}", file.string(), std::strerror(error)));
}

std::string require_long(const std::string& secret, const std::string& source) {
  if (secret.size() < kLeastCharacters || secret.size() > kMostCharacters) {
    throw InputError(fmt::format("{} has {} characters; a secret has {} to {}", source,
                                 secret.size(), kLeastCharacters, kMostCharacters));
  }
  return secret;
}

}  // namespace

std::string run_secret() {
  if (const char* given = std::getenv("EDELTA_SECRET")) return require_long(given, "EDELTA_SECRET");
  const fs::path file = secret_file();
  if (!base::is_there(file)) make_secret(file);
  struct stat found{};
  if (::stat(file.c_str(), &found) == 0 && (found.st_mode & 077) != 0) {
    throw InputError(
        fmt::format("{}: others can read it; make it yours alone (chmod 600) and, if "
                    "they may have, remove it: another is made",
                    file.string()));
  }
  std::string text = base::read_text(file, kMostCharacters + 1);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return require_long(text, file.string());
}

Digest keyed_digest(std::string_view secret, std::string_view message) {
  Digest digest{};
  unsigned int length = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(),
           &length) == nullptr ||
      length != digest.size()) {
    throw Failure("HMAC-SHA256 is not available");
  }
  return digest;
}

bool same_digest(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Digest random_bytes() {
  Digest bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw Failure("the system gives no random bytes");
  }
  return bytes;
}

std::string hexadecimal(const Digest& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace edelta::dist
