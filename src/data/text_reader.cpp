#include "data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "edelta/base/error.h"

namespace edelta::data {

TextSource::TextSource(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& path : files) {
    const std::uint64_t bytes = base::InputFile(path).remaining();
    files_.push_back({path, bytes_, bytes});
    bytes_ += bytes;
  }
  if (bytes_ == 0) throw InputError("the text is empty");
}

const TextSource::File& TextSource::file_at(std::uint64_t offset) const {
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), offset,
                       [](std::uint64_t at, const File& file) { return at < file.begin; });
  return *std::prev(after);
}

void TextReader::append(std::string& buffer, std::size_t bytes) {
  while (bytes > 0) {
    const TextSource::File& file = source_.files().at(file_);
    if (!open_) {
      open_.emplace(file.path);
      if (open_->remaining() != file.bytes) {
        throw InputError(fmt::format("{} changed while it was read", file.path.string()));
      }
    }
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, open_->remaining()));
    const std::size_t before = buffer.size();
    buffer.resize(before + count);
    open_->read(buffer.data() + before, count);
    bytes -= count;
    if (open_->remaining() == 0) {
      open_.reset();
      ++file_;
    }
  }
}

void TextReader::read(std::uint64_t bytes,
                      const std::function<std::size_t(std::string_view)>& complete,
                      const std::function<void(std::string_view)>& use) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  std::string buffer;
  while (bytes > 0) {
    // Where nothing is complete for long, each time twice as much is looked at.
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::max(kPiece, buffer.size())));
    append(buffer, count);
    bytes -= count;
    const std::size_t usable = bytes == 0 ? buffer.size() : complete(buffer);
    if (usable > 0) use(std::string_view(buffer).substr(0, usable));
    buffer.erase(0, usable);
  }
}

}  // namespace edelta::data
