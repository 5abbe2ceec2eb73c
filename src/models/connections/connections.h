// The built-in connections; each is defined in the file of its name.
#pragma once

#include <memory>

#include "edelta/models/connection.h"

namespace edelta::models {

std::unique_ptr<Connection> make_gpt_connection(const ModelConfig& config, Site& site);
std::unique_ptr<Connection> make_ddl_connection(const ModelConfig& config, Site& site);
std::unique_ptr<Connection> make_mhc_connection(const ModelConfig& config, Site& site);
std::unique_ptr<Connection> make_jpmhc_connection(const ModelConfig& config, Site& site);
std::unique_ptr<Connection> make_edelta_connection(const ModelConfig& config, Site& site);
std::unique_ptr<Connection> make_edelta_stream_connection(const ModelConfig& config, Site& site);

}  // namespace edelta::models
