{-# LANGUAGE LambdaCase #-}

-- | Solve a maze read from standard input by breadth-first search.
module Main (main) where

import           Data.Map.Strict (Map)
import qualified Data.Map.Strict as Map
import           Data.Maybe      (fromMaybe, listToMaybe)
import           Data.Sequence   (Seq (..), (|>))
import qualified Data.Sequence   as Seq
import qualified Data.Set        as Set

type Point = (Int, Int)

data Cell = Wall | Free | Start | Goal
  deriving (Eq, Show)

parseCell :: Char -> Cell
parseCell = \case
  '#' -> Wall
  'S' -> Start
  'G' -> Goal
  _   -> Free

parseMaze :: String -> Map Point Cell
parseMaze text =
  Map.fromList
    [ ((row, column), parseCell char)
    | (row, line) <- zip [0 ..] (lines text)
    , (column, char) <- zip [0 ..] line
    ]

find :: Cell -> Map Point Cell -> Maybe Point
find cell = listToMaybe . Map.keys . Map.filter (== cell)

neighbours :: Map Point Cell -> Point -> [Point]
neighbours maze (r, c) =
  filter open [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
  where
    open point = fromMaybe Wall (Map.lookup point maze) /= Wall

solve :: Map Point Cell -> Maybe [Point]
solve maze = do
  start <- find Start maze
  goal <- find Goal maze
  go goal (Set.singleton start) (Seq.singleton [start])
  where
    go _ _ Empty = Nothing
    go goal seen (path@(here : _) :<| queue)
      | here == goal = Just (reverse path)
      | otherwise =
          let fresh = filter (`Set.notMember` seen) (neighbours maze here)
           in go goal (foldr Set.insert seen fresh) (foldl (\q p -> q |> (p : path)) queue fresh)
    go goal seen (_ :<| queue) = go goal seen queue

main :: IO ()
main = interact $ \input ->
  maybe "there is no way out\n" (\path -> show (length path - 1) ++ " steps\n") (solve (parseMaze input))
