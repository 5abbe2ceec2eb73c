#include "data/puzzles/puzzle_text.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::data {
namespace {

using test::expect_error;

const PuzzleShape kSudoku{PuzzleKind::sudoku, 4};
const PuzzleShape kMaze{PuzzleKind::maze, 5};

constexpr const char* kMazeText =
    "#####\n"
    "#S #G\n"
    "##   \n"
    "# ## \n"
    "#    \n";

PuzzleTokens sudoku(const std::string& text) { return parse_puzzle(kSudoku, text, "test"); }
PuzzleTokens maze(const std::string& text) { return parse_puzzle(kMaze, text, "test"); }

void expect_refused(const PuzzleShape& shape, const std::string& text, const std::string& reason) {
  expect_error<InputError>([&] { parse_puzzle(shape, text, "here"); }, "here: ", reason);
}

TEST(PuzzleText, KnowsAModelsPuzzlesByTheirTokens) {
  EXPECT_EQ(puzzle_shape(16, 6)->name(), "a 4×4 Sudoku");
  EXPECT_EQ(puzzle_shape(36, 8)->name(), "a 6×6 Sudoku");
  EXPECT_EQ(puzzle_shape(81, 11)->name(), "a 9×9 Sudoku");
  EXPECT_EQ(puzzle_shape(81, 6)->name(), "a 9×9 maze");
  EXPECT_EQ(puzzle_shape(900, 6)->name(), "a 30×30 maze");
  EXPECT_FALSE(puzzle_shape(900, 12)) << "ARC";
  EXPECT_FALSE(puzzle_shape(80, 6));
}

TEST(PuzzleText, TakesASudokuHoweverItIsWritten) {
  const PuzzleTokens expected{2, 1, 1, 1, 1, 1, 3, 2, 1, 2, 1, 1, 3, 1, 1, 5};
  EXPECT_EQ(sudoku("1... ..21 .1.. 2..4"), expected);
  EXPECT_EQ(sudoku("1000\n0021\n\r\n 0100\t2004\n"), expected);
  EXPECT_EQ(sudoku(" [[1,0,0,0],[0,0,2,1],[0,1,0,0],[2,0,0,4]]"), expected);
  EXPECT_EQ(sudoku(R"(["1...", "..21", ".1..", "2..4"])"), expected);
}

TEST(PuzzleText, TakesAMazeAsLinesOrJson) {
  const PuzzleTokens cells = maze(kMazeText);
  ASSERT_EQ(cells.size(), 25U);
  EXPECT_EQ(cells[6], 3);
  EXPECT_EQ(cells[9], 4);
  EXPECT_EQ(cells[7], 2);
  EXPECT_EQ(maze("#####\r\n#S.#G\r\n##...\r\n#.##.\r\n#....\r\n"), cells);
  EXPECT_EQ(maze(R"(["#####", "#S #G", "##   ", "# ## ", "#    "])"), cells);
}

TEST(PuzzleText, RefusesWhatIsNoPuzzle) {
  expect_refused(kSudoku, " \n", "there is no puzzle");
  expect_refused(kSudoku, "1.3. ..21 .1.. 2..", "it has 15 cells; a 4×4 Sudoku has 16");
  expect_refused(kSudoku, "1.3. ..21 .1.. 2..5", "'5' is not of a 4×4 Sudoku");
  expect_refused(kSudoku, "1.3. ..21 .1.. 2..x", "'x' is not of");
  expect_refused(kSudoku, "1.31 ..2. .1.. 2..4", "the givens contradict: row 1 has 1 twice");
  expect_refused(kSudoku, "1... 1... .... ....", "column 1 has 1 twice");
  expect_refused(kSudoku, "1... .1.. .... ....", "box 1 has 1 twice");
  expect_refused(kSudoku, "1.3. ..21 .1.. 2..4", "the givens contradict: there is no solution");
  expect_error<InputError>([&] { parse_puzzle(kSudoku, "[[1,2],[3", "here"); },
                           "here is not valid JSON");
  expect_refused(kSudoku, "{}", "it must be a list of rows");
  expect_refused(kSudoku, "[1,2,3,4]", "rows must be strings or lists");
  expect_refused(kSudoku, "[[1,0,3,0],[0,0,2],[0,1,0,0],[2,0,0,4]]", "row 2 has 3 cells");
  expect_refused(kSudoku, "[[1,0,3,9],[0,0,2,1],[0,1,0,0],[2,0,0,4]]", "9 is no cell of");
  expect_refused(kSudoku, "[[1,0,3,1.5],[0,0,2,1],[0,1,0,0],[2,0,0,4]]", "1.5 is no cell of");
  std::string tall = "[[0]";
  for (int i = 0; i < 30; ++i) tall += ",[0]";
  expect_refused(kSudoku, tall + "]", "it has 31 rows; grids have at most 30");
  expect_refused(kMaze, "#####\n#S G#\n", "it has 2 rows; a 5×5 maze has 5");
  expect_refused(kMaze, "#####\n#S G\n#####\n#####\n#####\n", "row 2 has 4 cells");
  expect_refused(kMaze, "#####\n#SoG#\n#####\n#####\n#####\n", "'o' is not of");
  expect_refused(kMaze, "#####\n#S S#\n###G#\n#####\n#####\n", "it has 2 starts (S)");
  expect_refused(kMaze, "#####\n#S#G#\n#####\n#####\n#####\n", "there is no way from S to G");
}

TEST(PuzzleText, ChecksASudokuByItsRules) {
  const PuzzleTokens puzzle = sudoku("1.3. .... .... ....");
  const PuzzleTokens solution = sudoku("1234 3412 2143 4321");
  EXPECT_EQ(fault_of(kSudoku, puzzle, solution), "");
  EXPECT_EQ(fault_of(kSudoku, puzzle, sudoku("1234 3412 2143 432.")),
            "row 4, column 4 has no digit");
  EXPECT_EQ(fault_of(kSudoku, puzzle, sudoku("1243 3412 2134 4321")),
            "row 1, column 3 was given as 3");
  PuzzleTokens wrong = solution;
  std::swap(wrong[0 + 4], wrong[1 + 4]);  // of the second row
  EXPECT_EQ(fault_of(kSudoku, puzzle, wrong), "column 1 has 4 twice");
}

TEST(PuzzleText, ChecksAMazeByItsRules) {
  const PuzzleTokens puzzle = maze(kMazeText);
  PuzzleTokens answer = puzzle;
  EXPECT_EQ(fault_of(kMaze, puzzle, answer), "the way does not lead from S to G");
  for (const int cell : {7, 12, 13, 14}) answer[cell] = 5;
  EXPECT_EQ(fault_of(kMaze, puzzle, answer), "");
  answer[21] = 5;
  EXPECT_EQ(fault_of(kMaze, puzzle, answer), "1 marks are not on the way");
  answer[0] = 2;
  EXPECT_EQ(fault_of(kMaze, puzzle, answer), "row 1, column 1 is no longer what it was");
}

TEST(PuzzleText, FindsThatAWayIsNotTheShortest) {
  const PuzzleTokens puzzle = maze("S   G\n ### \n ### \n ### \n     \n");
  PuzzleTokens answer = puzzle;
  for (int cell = 0; cell < 25; ++cell) {
    if (cell / 5 > 0 && puzzle[cell] == 2) answer[cell] = 5;
  }
  EXPECT_EQ(fault_of(kMaze, puzzle, answer), "the way has 12 steps, and there is one of 4");
}

TEST(PuzzleText, WritesWhatItReads) {
  std::string text;
  for (const int token : sudoku("1... ..21 .1.. 2..4")) text += puzzle_symbol(kSudoku, token);
  EXPECT_EQ(text, "1.....21.1..2..4");
  EXPECT_EQ(puzzle_symbol(kMaze, 5), 'o');
  EXPECT_EQ(puzzle_symbol(kMaze, 0), '?');
  EXPECT_EQ(puzzle_symbol(kSudoku, 6), '?');
}

}  // namespace
}  // namespace edelta::data
