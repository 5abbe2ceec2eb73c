// Expectations on the messages of errors.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace edelta::test {

// That `action` throws `Error` and its message contains every one of `parts`.
template <class Error, class Action, class... Parts>
void expect_error(Action&& action, const Parts&... parts) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected " << testing::PrintToString(std::tie(parts...));
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string& part : {std::string(parts)...}) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    }
  }
}

}  // namespace edelta::test
