/* Preloaded into Hydra, and into each git that it starts.
 *
 * Each rename, unlink, link, fsync, each open that creates a file, and each start of a git, is a row
 * of FAULTS_LOG: the program, the call and its paths, in ROW bytes. FAULTS has lines of AT, a tab, and DO. AT is the
 * number of a call, a pattern of its row, or "N PATTERN" for the Nth in one process. DO is "fail
 * ERRNO", for each such call; or, once, "kill" for its caller, a line for a shell before the call,
 * or "then LINE" for one right after it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define TAIL(path) (strlen(path) > 110 ? (path) + strlen(path) - 110 : (path))
enum { ROW = 256, MOST = 4000, FAULTS = 4, WITHOUT = 0, DUE, FAILED };

extern char **environ;

static void shell(const char *line)
{
    pid_t child = fork();
    if (child == 0) {
        unsetenv("FAULTS_LOG");
        unsetenv("LD_PRELOAD");
        execl("/bin/sh", "sh", "-ec", line, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static int matches(int fault, const char *at, const char *row, long number)
{
    static long seen[FAULTS];
    char *rest;
    long counted = strtol(at, &rest, 10);
    if (counted == 0)
        return fnmatch(at, row, 0) == 0;
    if (*rest == 0)
        return counted == number;
    return fnmatch(rest + 1, row, 0) == 0 && ++seen[fault] == counted;
}

static int is_first(const char *log, int fault)
{
    char name[MOST];
    snprintf(name, MOST, "%s.done%d", log, fault);
    int file = REAL(open)(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* Whether the call FAILED, or `then` has what is DUE after it. */
static int met(const char *call, const char *path, const char *target, char *then)
{
    const char *log = getenv("FAULTS_LOG"), *faults = getenv("FAULTS");
    char row[ROW] = "", text[MOST], *line, *next, *act;
    int saved = errno, answer = WITHOUT;

    if (log == NULL || faults == NULL)
        return WITHOUT;
    snprintf(row, ROW, "%s %s %s %s", program_invocation_short_name, call, TAIL(path), TAIL(target));
    int file = REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || write(file, row, ROW) != ROW)
        abort();
    long number = lseek(file, 0, SEEK_CUR) / ROW;
    close(file);
    snprintf(text, MOST, "%s", faults);
    next = text;
    for (int fault = 0; fault < FAULTS && (line = strsep(&next, "\n")) != NULL; fault++) {
        act = strchr(line, '\t');
        if (act == NULL)
            continue;
        *act++ = 0;
        if (!matches(fault, line, row, number))
            continue;
        if (sscanf(act, "fail %d", &saved) == 1)
            answer = FAILED;
        else if (!is_first(log, fault))
            continue;
        else if (strcmp(act, "kill") == 0)
            kill(getpid(), SIGKILL);
        else if (strncmp(act, "then ", 5) == 0)
            answer = (strcpy(then, act + 5), DUE);
        else
            shell(act);
    }
    errno = saved;
    return answer;
}

static int done(int due, const char *then, int result)
{
    int saved = errno;
    if (due == DUE)
        shell(then);
    errno = saved;
    return result;
}

#define WATCHED(call, path, target, real)               \
    char then[MOST];                                    \
    int due = met(call, path, target, then);            \
    return due == FAILED ? -1 : done(due, then, real)

int rename(const char *old, const char *new)
{
    WATCHED("rename", old, new, REAL(rename)(old, new));
}

int renameat(int from, const char *old, int to, const char *new)
{
    WATCHED("rename", old, new, REAL(renameat)(from, old, to, new));
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    WATCHED("rename", old, new, REAL(renameat2)(from, old, to, new, flags));
}

int link(const char *old, const char *new)
{
    WATCHED("link", old, new, REAL(link)(old, new));
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    WATCHED("link", old, new, REAL(linkat)(from, old, to, new, flags));
}

int unlink(const char *path)
{
    WATCHED("unlink", path, "", REAL(unlink)(path));
}

int unlinkat(int folder, const char *path, int flags)
{
    WATCHED("unlink", path, "", REAL(unlinkat)(folder, path, flags));
}

int fsync(int file)
{
    char name[64], path[MOST] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if (readlink(name, path, MOST - 1) < 0)
        path[0] = 0;
    WATCHED("fsync", path, "", REAL(fsync)(file));
}

#define OPEN(name, terms, args)                                  \
    int name terms                                               \
    {                                                            \
        va_list more;                                            \
        va_start(more, flags);                                   \
        mode_t mode = va_arg(more, mode_t);                      \
        va_end(more);                                            \
        if ((flags & O_CREAT) == 0)                              \
            return REAL(name) args;                              \
        WATCHED("open", path, "", REAL(name) args);              \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

/* Hydra's git has an environment of its own: it is given what is in this one. */
int execve(const char *program, char *const *args, char *const *given)
{
    char *all[MOST], then[MOST];
    size_t count = 0, length = strlen(program);
    if (length > 4 && strcmp(program + length - 4, "/git") == 0) {
        for (; given[count] != NULL && count < MOST / 2; count++)
            all[count] = given[count];
        for (char **own = environ; *own != NULL && count < MOST - 1; own++)
            if (strncmp(*own, "LD_PRELOAD=", 11) == 0 || strncmp(*own, "FAULTS", 6) == 0)
                all[count++] = *own;
        all[count] = NULL;
        given = all;
        met("exec", program, "", then);
    }
    return REAL(execve)(program, args, given);
}
