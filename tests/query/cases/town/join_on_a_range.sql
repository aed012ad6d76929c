-- policy: town
-- python: QuestionBuilder("visits JOIN tariffs ON cost > price").where("ward <> 'C'").agg(n=count())
SELECT COUNT(*) AS n FROM visits JOIN tariffs ON cost > price WHERE ward <> 'C'
