// Paths of open files, for libraries that are preloaded into a program.
#pragma once

#include <fcntl.h>
#include <linux/limits.h>
#include <unistd.h>

#include <string>

// The path of an open file, or of a path relative to an open folder (AT_FDCWD: the current one); empty if it is not
// below `under`, an absolute path without symbolic links.
inline std::string path_below(const std::string & under, int fd, const char * name = nullptr) {
    std::string path(PATH_MAX, 0);
    if (name && name[0] == '/') {
        path = name;
    } else {
        const std::string link = fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(fd);
        const ssize_t length = readlink(link.c_str(), path.data(), path.size());
        path.resize(length < 0 ? 0 : size_t(length));
        if (name) path += std::string("/") + name;
    }
    const bool below = !under.empty() && path.starts_with(under) && path[under.size()] == '/';
    return below ? path : "";
}
