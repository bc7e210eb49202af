# The tool-info module of Proviso for BenchExec (https://github.com/sosy-lab/benchexec). It finds the executable, creates the
# command line for a task, and reads the verdict in the last line of the output. With the folder that contains tools_proviso on
# PYTHONPATH and proviso on PATH, a benchmark definition refers to it by tool="tools_proviso.proviso".

import re

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.sv_benchmarks_util import get_data_model_from_task, ILP32, LP64


class Tool(benchexec.tools.template.BaseTool2):
    """Proviso: a verifier for C."""

    REQUIRED_PATHS = ["../lib/libz3.so*", "../lib/libgmp.so*"]  # in a release

    def executable(self, tool_locator):
        """Finds the executable in the release archive, on the PATH, or in the build tree."""
        try:
            return tool_locator.find_executable("proviso", subdir="bin")
        except benchexec.tools.template.ToolNotFoundException:
            return tool_locator.find_executable("proviso", subdir="target/release")

    def name(self):
        return "Proviso"

    def project_url(self):
        return ""

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="proviso ")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "verify", *options]
        if task.property_file:
            command += ["--property", task.property_file]
        data_model = get_data_model_from_task(task, {ILP32: "ILP32", LP64: "LP64"})
        if data_model and "--data-model" not in options:
            command += ["--data-model", data_model]
        # Proviso ends with a verdict shortly before BenchExec would kill it.
        limits = [limit for limit in (rlimits.walltime, rlimits.cputime) if limit]
        if limits and "--timeout" not in options:
            command += ["--timeout", str(max(1, min(limits) - 1))]
        if rlimits.memory and "--memory-limit" not in options:
            command += ["--memory-limit", str(max(100, rlimits.memory * 9 // 10 >> 20))]
        return [*command, *task.input_files]

    def determine_result(self, run):
        last = next((line.strip() for line in reversed(list(run.output)) if line.strip()), "")
        if last == "TRUE":
            return result.RESULT_TRUE_PROP
        violated = re.fullmatch(r"FALSE\(([a-z-]+)\)", last)
        if violated:
            return f"{result.RESULT_FALSE_PROP}({violated[1]})"
        if last.startswith("UNKNOWN("):
            reason = last[len("UNKNOWN(") : -1]
            if reason.startswith("timeout"):
                return result.RESULT_TIMEOUT
            if reason.startswith("memory"):
                return "OUT OF MEMORY"
            return result.RESULT_UNKNOWN
        return result.RESULT_ERROR
